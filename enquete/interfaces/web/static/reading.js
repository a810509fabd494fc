// On a narrow page the tabs scroll sideways: the one that is open is in sight.
const open_tab = document.querySelector(".tabs [aria-current]");
if (open_tab) open_tab.closest(".tabs").scrollLeft = open_tab.offsetLeft - 24;
