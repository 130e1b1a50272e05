"use strict";
// Shows one picture of each section at a time (all without JavaScript); filters and sorts the table.
(() => {
  for (const section of document.querySelectorAll("section:has(.figure)")) {
    const select = section.querySelector("select");
    const images = [...section.querySelectorAll("img")];
    const show = () => images.forEach((image, i) => { image.hidden = i !== select.selectedIndex; });
    select.addEventListener("change", show);
    for (const button of section.querySelectorAll("button")) {
      button.addEventListener("click", () => {
        select.selectedIndex = (select.selectedIndex + Number(button.dataset.step) + images.length) % images.length;
        show();
      });
    }
    show();
  }

  const table = document.getElementById("medians");
  const rows = [...table.tBodies[0].rows];
  document.getElementById("filter").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const content = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => content.includes(word));
    }
  });

  // Times and sizes sort by what they mean, not by their letters.
  const units = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824 };
  const value = (content) => {
    const match = /^([\d.,]+(?:e[+-]?\d+)?)\s*([a-zA-Zµ]*)/.exec(content);
    return match ? parseFloat(match[1].replaceAll(",", "")) * (units[match[2]] || 1) : NaN;
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    let rising = false;
    head.addEventListener("click", () => {
      rising = !rising;
      const key = (row) => row.cells[column].textContent;
      rows.sort((one, other) => {
        const difference = value(key(one)) - value(key(other));
        const order = Number.isNaN(difference) ? key(one).localeCompare(key(other)) : difference;
        return rising ? order : -order;
      });
      table.tBodies[0].append(...rows);
    });
  });
})();
