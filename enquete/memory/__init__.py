"""What interviews leave behind for later: episodes, annotations of answers, preferences; and graphs outside that are read.

One file beside a simulation's runs, `interviews/memory.sqlite` (a LangGraph SqliteStore with a text index), always holds
everything; a graph outside gets a copy of the episodes, if one is configured. In use:

    with LocalMemory.opened(interviews) as memory:          # the folder that holds runs/; read_only=True creates nothing
        memory.remember([Record(id=answer_id, kind="answer", text=text, sim_id=…, run_id=…, participant=…)])
        memory.annotate(answer_id, {"critic_score": 4})     # read, merge, write; False and a warning where there is none
        memory.remember_preference(Preference(question_id=…, …, a="model-a, 0.7", b="model-b, 0.5", winner="a"))
        memory.search("quota", agent="Marie Holm")
        memory.preferences()                                # every comparison that was remembered

All of it is synchronous and quick; from a coroutine, `await asyncio.to_thread(…)`. A record is written once and never
changed but by annotations; to remember it again does nothing. Measured by: what was remembered is found after a kill.
"""
