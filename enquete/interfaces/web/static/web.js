// A run that goes on: its progress is fetched anew whenever the server says that something has changed.
const live = document.querySelector("[data-events]");
if (live && "EventSource" in window) {
  const fragment = live.querySelector("[data-fragment]"), said = live.querySelector("[data-said]");
  const controls = () => [...fragment.querySelectorAll("a, button, input, select, summary")];
  let busy = false, again = false, status = "", spoken = 0;
  async function show() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(live.dataset.progress);
      if (answer.ok) {
        const focused = controls().indexOf(document.activeElement);
        fragment.innerHTML = await answer.text();
        if (focused >= 0) controls()[focused]?.focus();
        say(fragment.querySelector("[data-say]"));
      }
    } catch { /* the server is away: the next event comes when it is back */ }
    busy = false;
    if (again) { again = false; show(); }
  }
  // Read out when the state changes, and else every quarter of a minute.
  function say(told) {
    if (!told || (told.dataset.status === status && Date.now() - spoken < 15000)) return;
    [status, spoken] = [told.dataset.status, Date.now()];
    said.textContent = told.dataset.say;
  }
  const source = new EventSource(live.dataset.events);
  let now = "running";
  source.addEventListener("status", event => { now = JSON.parse(event.data).data.run_status; show(); });
  source.addEventListener("end", () => {
    if (["running", "pausing", "writing_up"].includes(now)) return;  // the server ends, not the run
    source.close();
    location.reload();
  });
}
