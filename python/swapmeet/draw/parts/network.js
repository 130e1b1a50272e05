// The network, its links as wide and red as they are loaded in a frame, and the busiest of them.
class Network {
  constructor(description, go) {
    this.about = description;
    this.links = Object.entries(description.links);
    this.loads = frames.map((frame) => new Map(Object.entries(frame.load)));
    const capacity = (link) => description.links[link][2];
    this.slots = this.loads.map((load) => Math.max(0, ...[...load].map(([link, blocks]) => Math.ceil(blocks / capacity(link)))));
    this.most = Math.max(1, ...this.slots);
    byId("network").hidden = false;
    this.drawFixed(byId("links"));
    this.bars = frames.map((_, i) => {
      const bar = element("span", { style: `height:${(100 * this.slots[i]) / this.most}%`, title: `${frames[i].title}: ${this.slots[i]}` });
      bar.addEventListener("click", () => go(i + 1));
      return bar;
    });
    byId("rounds").replaceChildren(...this.bars);
  }

  place(vertex) {
    const [x, y] = this.about.places[vertex];
    return [20 + 460 * x, 20 + 360 * y];
  }

  drawFixed(target) {
    target.setAttribute("viewBox", "0 0 500 400");
    this.lines = new Map();
    const layer = svg(target, "g");
    for (const [link, [from, to]] of this.links) {
      const pair = [Math.min(from, to), Math.max(from, to)].join();
      if (!this.lines.has(pair)) {
        const [a, b] = [this.place(from), this.place(to)];
        this.lines.set(pair, { line: svg(layer, "line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }), links: [] });
      }
      this.lines.get(pair).links.push(link);
    }
    const ranksOf = (vertex) => data.order.filter((rank) => this.about.host[rank] === vertex);
    this.about.names.forEach((name, vertex) => {
      const [x, y] = this.place(vertex);
      const isHost = vertex < this.about.hosts;
      const ranks = isHost ? ranksOf(vertex) : [];
      const shape = isHost
        ? svg(target, "circle", { class: "host", cx: x, cy: y, r: 5, fill: data.fills[ranks[0]] })
        : svg(target, "rect", { class: "switch", x: x - 4, y: y - 4, width: 8, height: 8, rx: 2 });
      svg(shape, "title", {}, isHost ? `${name}: rank ${ranks.join(", ")}` : name);
    });
  }

  draw({ position }) {
    const load = this.loads[position - 1] ?? new Map();
    const blocksOf = (link) => load.get(link) ?? 0;
    for (const { line, links } of this.lines.values()) {
      const share = Math.max(...links.map((link) => blocksOf(link) / this.about.links[link][2])) / this.most;
      line.style.stroke = share ? `color-mix(in oklch, var(--busy) ${Math.round(30 + 70 * share)}%, var(--line))` : "";
      line.style.strokeWidth = share ? 1 + 5 * share : 1;
    }
    const total = new Map();
    for (const one of this.loads) for (const [link, blocks] of one) total.set(link, (total.get(link) ?? 0) + blocks);
    const now = position > 0 ? this.slots[position - 1] : 0;
    const sum = this.slots.reduce((a, b) => a + b, 0);
    byId("load").textContent =
      `Busiest link now: ${count(now, "block")}. Sum over rounds: ${sum.toLocaleString("en")}; ` +
      `no order of direct messages has less than ${this.about.bound.toLocaleString("en")}.`;
    const busiest = [...total.keys()].sort((a, b) => blocksOf(b) - blocksOf(a) || total.get(b) - total.get(a) || a - b).slice(0, 8);
    byId("busiest").replaceChildren(...busiest.map((link) => {
      const [from, to] = this.about.links[link];
      const cells = [`${this.about.names[from]} → ${this.about.names[to]}`, String(blocksOf(link)), String(total.get(link))];
      return element("tr", {}, ...cells.map((text) => element("td", {}, text)));
    }));
    this.bars.forEach((bar, i) => bar.classList.toggle("now", i + 1 === position));
    byId("links").setAttribute("aria-label", `${this.lines.size} links; the busiest carries ${count(now, "block")} now`);
  }
}
