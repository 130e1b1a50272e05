// What the theme lacks for readers who use the keyboard or a screen reader.
"use strict";
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
document.getElementById("__search")?.setAttribute("aria-label", "Search");

// What scrolls can be scrolled by keys. The theme wraps tables later.
function reach() {
  for (const box of document.querySelectorAll(".md-typeset pre > code, .md-typeset__scrollwrap, .md-typeset__table, .md-sidebar__scrollwrap"))
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
}
addEventListener("load", () => setTimeout(reach));
addEventListener("resize", reach);
