"""What interviews leave behind for later: episodes, annotations of answers, preferences; and graphs outside that are
read.

Episodes stand where runs wrote them and are searched there; a graph outside gets a copy, if one is configured. What is
noted over all runs stands beside them, in `interviews/memory.sqlite` (a LangGraph SqliteStore). In use:

    search(episodes(interviews), "quota", agent="Marie Holm")
    with LocalMemory.opened(interviews) as memory:          # the folder that holds runs/; read_only=True creates
    nothing
        memory.remember([Record(id=answer_id, kind="answer", text=text, sim_id=…, run_id=…, participant=…)])
        memory.annotate(answer_id, {"critic_score": 4})     # read, merge, write; False and a warning where there is
        none memory.remember_preference(Preference(question_id=…, …, a="model-a, 0.7", b="model-b, 0.5", winner="a"))
        memory.preferences()                                # every comparison that was remembered

All of it is synchronous and quick; from a coroutine, `await asyncio.to_thread(…)`. A record is written once and never
changed but by annotations; to remember it again does nothing.
"""
