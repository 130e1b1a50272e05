"use strict";
// Draws a figure of each section when it comes into view, in the colours of the page; filters and sorts the table.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const text = document.getElementById("figures").textContent;
  let figures = {};

  // What the host MPI is drawn in is black on white, and light on dark.
  const read = () => {
    figures = JSON.parse(dark.matches ? text.replaceAll('"#000000"', '"#e6e6e6"') : text);
  };

  const draw = (kind) => {
    const target = document.getElementById(kind + "-figure");
    const choice = Number(document.querySelector("#" + kind + " select").value);
    const { data, layout } = figures[kind][choice];
    const ink = dark.matches ? "#e6e6e6" : "#1a1a1a";
    const line = dark.matches ? "#3a3d42" : "#dddddd";
    const narrow = target.clientWidth < 600;
    const least = (layout.meta || {}).least_width || 0;
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
    Plotly.react(target, data, {
      ...layout,
      font: { color: ink, size: narrow ? 11 : 13, family: "system-ui, sans-serif" },
      ...(least > target.clientWidth ? { width: least } : {}),
      dragmode: narrow ? false : "zoom", // a finger scrolls the page
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 60, r: narrow ? 10 : 30, t: layout.title ? 50 : 30, b: 60 },
      legend: { orientation: "h", y: 0, yref: "container", yanchor: "bottom", ...(layout.legend || {}) },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: line, activecolor: ink },
      hoverlabel: { align: "left", namelength: -1 },
      xaxis: { ...axis, ...layout.xaxis },
      yaxis: { ...axis, ...layout.yaxis },
    }, {
      responsive: true,
      displaylogo: false,
      displayModeBar: !narrow,
      plotlyServerURL: "", // nothing leaves this file: plotly's own set of buttons has one that uploads
      modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
    });
  };

  read();
  const seen = new Set();
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const kind = entry.target.id;
      if (entry.isIntersecting && !seen.has(kind)) {
        seen.add(kind);
        draw(kind);
      }
    }
  }, { rootMargin: "600px" });

  for (const kind of Object.keys(figures)) {
    const section = document.getElementById(kind);
    const select = section.querySelector("select");
    watch.observe(section);
    select.addEventListener("change", () => draw(kind));
    for (const button of section.querySelectorAll("button")) {
      button.addEventListener("click", () => {
        const count = select.options.length;
        select.selectedIndex = (select.selectedIndex + Number(button.dataset.step) + count) % count;
        draw(kind);
      });
    }
  }
  dark.addEventListener("change", () => {
    read();
    seen.forEach(draw);
  });

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
