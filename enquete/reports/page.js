"use strict";
// A link into a folded part opens it.
function unfold() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();
// A click on a column's head, or Enter, sorts by it: numbers as numbers, dashes last.
const figure = text => Number(text.replace(/[^\d,.−-]/g, "").replace("−", "-").replace(",", document.documentElement.lang === "de" ? "." : ""));
for (const head of document.querySelectorAll("thead th")) {
  head.tabIndex = 0;
  const sort = () => {
    const row = head.parentElement, place = [...row.children].indexOf(head), body = head.closest("table").tBodies[0];
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of row.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = tr => tr.children[place]?.textContent.trim() ?? "";
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)], [m, n] = [figure(x), figure(y)];
      if (x === "–" || y === "–") return x === y ? 0 : x === "–" ? 1 : -1;
      const order = /\d/.test(x) && /\d/.test(y) && !isNaN(m) && !isNaN(n) ? m - n : x.localeCompare(y);
      return up ? order : -order;
    });
    body.append(...rows);
  };
  head.addEventListener("click", sort);
  head.addEventListener("keydown", event => { if (event.key === "Enter") sort(); });
}
