// A run that goes on: its progress is fetched anew whenever the server says that something has changed.
const live = document.querySelector("[data-events]");
if (live && "EventSource" in window) {
  const fragment = live.querySelector("[data-fragment]"), said = live.querySelector("[data-said]");
  const gone = live.querySelector("[data-gone]");
  const controls = () => [...fragment.querySelectorAll("a, button, input, select, summary")];
  let busy = false, again = false, status = "", spoken = 0;
  async function show() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(live.dataset.progress);
      gone.hidden = answer.status < 500;
      if (answer.ok) {
        const focused = controls().indexOf(document.activeElement);
        fragment.innerHTML = await answer.text();
        if (focused >= 0) controls()[focused]?.focus();
        say(fragment.querySelector("[data-say]"));
      }
    } catch { gone.hidden = false; }  // the next event comes when the server is back
    busy = false;
    if (again) { again = false; show(); }
  }
  // Read out when the state changes, and else every quarter of a minute.
  function say(told) {
    if (!told || (told.dataset.status === status && Date.now() - spoken < 15000)) return;
    [status, spoken] = [told.dataset.status, Date.now()];
    said.textContent = told.dataset.say;
  }
  let now = "running";
  function follow() {
    const source = new EventSource(live.dataset.events);
    source.addEventListener("status", event => { now = JSON.parse(event.data).data.run_status; show(); });
    source.addEventListener("end", () => {
      if (["running", "pausing", "writing_up"].includes(now)) return;  // the server ends, not the run
      source.close();
      location.reload();
    });
    // The browser tries again by itself, but not after an answer that is no stream, such as a proxy's.
    source.addEventListener("error", () => { show(); if (source.readyState === EventSource.CLOSED) setTimeout(follow, 3000); });
  }
  follow();
}
// What is being written stays in this browser until it is sent, whatever becomes of page or server.
for (const field of document.querySelectorAll("textarea[data-draft]")) {
  const key = `draft ${location.pathname} ${field.dataset.draft}`;
  try {
    field.value ||= localStorage.getItem(key) ?? "";
    field.addEventListener("input", () => localStorage.setItem(key, field.value));
    for (const old of Object.keys(localStorage)) {
      if (old.startsWith(`draft ${location.pathname} `) && old !== key) localStorage.removeItem(old);
    }
  } catch { /* a browser that stores nothing */ }
}
