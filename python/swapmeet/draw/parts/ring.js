// Ranks on a circle, nodes as arcs behind them, and the messages of a frame as chords.
const svgNamespace = "http://www.w3.org/2000/svg";

function svg(parent, name, attributes = {}, text = "") {
  const element = document.createElementNS(svgNamespace, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  parent.append(element);
  return element;
}

const nodeGap = 0.8; // in steps from rank to rank
const numbered = 4; // where circles are too small for numbers, one in so many ranks has its number beside it

class Ring {
  constructor(element, choose) {
    this.size = 420;
    this.centre = this.size / 2;
    this.radius = this.size / 2 - (hasNodes ? 44 : 26);
    this.glyph = Math.max(4.5, Math.min(15, (2.2 * this.radius) / P));
    element.setAttribute("viewBox", `0 0 ${this.size} ${this.size}`);
    this.element = element;
    this.angles = this.spread();
    if (hasNodes) this.drawNodes();
    this.chords = svg(element, "g");
    this.dots = svg(element, "g");
    this.ranks = data.order.map((rank) => this.drawRank(rank, choose));
  }

  // Angles of the ranks: equal steps, with gaps between nodes, larger ones between groups of nodes.
  spread() {
    const gap = (a, b) => nodeGap * data.groups.filter((level) => level[a] !== level[b]).length;
    const angles = [];
    let at = 0;
    data.order.forEach((rank, i) => {
      if (i > 0) at += gap(rank, data.order[i - 1]);
      angles[rank] = at++;
    });
    const whole = (this.whole = at + gap(data.order[0], data.order[P - 1]));
    return angles.map((angle) => (2 * Math.PI * angle) / whole);
  }

  point(angle, radius = this.radius) {
    return [this.centre + radius * Math.sin(angle), this.centre - radius * Math.cos(angle)];
  }

  drawNodes() {
    const half = Math.PI / this.whole;
    for (const node of new Set(nodeOf)) {
      const members = data.order.filter((rank) => nodeOf[rank] === node).map((rank) => this.angles[rank]);
      const [begin, end] = [Math.min(...members) - half, Math.max(...members) + half];
      const [inner, outer] = [this.radius - this.glyph - 6, this.radius + this.glyph + 6];
      const large = end - begin > Math.PI ? 1 : 0;
      const arc = (radius, to, sweep) => `A${radius} ${radius} 0 ${large} ${sweep} ${this.point(to, radius)}`;
      const path = `M${this.point(begin, outer)}${arc(outer, end, 1)}L${this.point(end, inner)}${arc(inner, begin, 0)}Z`;
      svg(this.element, "path", { class: "node", d: path });
      const [x, y] = this.point((begin + end) / 2, outer + 13);
      svg(this.element, "text", { class: "nodename", x, y }, P / new Set(nodeOf).size > 3 ? `node ${node}` : `n${node}`);
    }
  }

  drawRank(rank, choose) {
    const [x, y] = this.point(this.angles[rank]);
    const group = svg(this.element, "g", { class: "rank", transform: `translate(${x} ${y})`, "data-rank": rank });
    svg(group, "circle", { r: this.glyph, fill: data.fills[rank] });
    if (this.glyph >= 8) svg(group, "text", {}, String(rank)).style.fontSize = `${Math.min(12, this.glyph * 0.9)}px`;
    else if (rank % numbered === 0) this.drawNumber(rank);
    svg(group, "title", {}, `rank ${rank}`);
    group.addEventListener("click", () => choose(rank));
    return group;
  }

  drawNumber(rank) {
    const beside = hasNodes ? -this.glyph - 14 : this.glyph + 11;
    const [x, y] = this.point(this.angles[rank], this.radius + beside);
    svg(this.element, "text", { class: "nodename", x, y }, String(rank));
  }

  // From the rim of one rank to that of the other, bent towards the centre and to the left.
  curve(source, target) {
    const [a, b] = [this.point(this.angles[source]), this.point(this.angles[target])];
    const middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const length = Math.hypot(dx, dy) || 1;
    const pull = 0.42 * Math.max(0.35, 1 - length / (2.4 * this.radius));
    const aside = Math.min(16, length * 0.09);
    const control = [
      middle[0] + pull * (this.centre - middle[0]) + (aside * dy) / length,
      middle[1] + pull * (this.centre - middle[1]) - (aside * dx) / length,
    ];
    const trim = (end, far) => {
      const [ex, ey] = [control[0] - end[0], control[1] - end[1]];
      const distance = Math.hypot(ex, ey) || 1;
      return [end[0] + (ex * far) / distance, end[1] + (ey * far) / distance];
    };
    return [trim(a, this.glyph + 1), control, trim(b, this.glyph + 4)];
  }

  draw({ position, rank, block }) {
    this.chords.replaceChildren();
    this.dots.replaceChildren();
    const frame = frames[position - 1];
    const hops = block === null ? [] : journeyOf(block).filter((hop) => hop.source !== hop.target);
    for (const hop of hops) {
      const [a, control, b] = this.curve(hop.source, hop.target);
      svg(this.chords, "path", { class: "trail", d: `M${a}Q${control} ${b}` });
    }
    const messages = frame ? frame.messages : [];
    this.shown = messages.map((message) => this.drawChord(message, rank, block));
    if (frame && !messages.length)
      svg(this.chords, "text", { class: "quiet", x: this.centre, y: this.centre }, "no messages: blocks move within ranks");
    for (const group of this.ranks) {
      const number = Number(group.dataset.rank);
      group.classList.toggle("chosen", number === rank);
      group.classList.toggle("marked", block !== null && [sourceOf(block), destinationOf(block)].includes(number));
    }
    const told = messages.length ? `${count(messages.length, "message")} between ${P} ranks` : `${P} ranks, no messages`;
    this.element.setAttribute("aria-label", told);
  }

  drawChord(message, rank, block) {
    const curve = this.curve(message.source, message.target);
    const carries = block !== null && message.moves.some((move) => move.block === block);
    const other = rank !== null && message.source !== rank && message.target !== rank;
    const classes = ["chord"];
    if ((other || (block !== null && rank === null)) && !carries) classes.push("faded");
    if (rank !== null && message.target === rank) classes.push("in");
    if (carries) classes.push("marked");
    const width = Math.min(manyRanks ? 0.9 : 1.3, 0.3 + this.glyph / 10) + Math.min(0.55, this.glyph / 25) * Math.log2(message.moves.length);
    const colour = carries ? "var(--mark)" : data.lines[message.source];
    const path = svg(this.chords, "path", {
      class: classes.join(" "), d: `M${curve[0]}Q${curve[1]} ${curve[2]}`, stroke: colour, "stroke-width": carries ? width + 1 : width,
    });
    svg(path, "title", {}, `${message.source} → ${message.target}: ${count(message.moves.length, "block")}`);
    const faded = classes.includes("faded");
    if (!faded) this.drawHead(curve, width, colour);
    return { curve, colour, faded, width };
  }

  drawHead([, control, end], width, colour) {
    const angle = Math.atan2(end[1] - control[1], end[0] - control[0]);
    const size = 4 + 1.3 * width;
    const corner = (turn) => [end[0] - size * Math.cos(angle + turn), end[1] - size * Math.sin(angle + turn)];
    const tip = [end[0] + 3 * Math.cos(angle), end[1] + 3 * Math.sin(angle)];
    svg(this.chords, "path", { d: `M${tip}L${corner(0.45)}L${corner(-0.45)}Z`, fill: colour });
  }

  // Dots run along the chords, once.
  animate(milliseconds) {
    this.dots.replaceChildren();
    const runs = (this.shown ?? []).filter((one) => !one.faded).slice(0, 600);
    const dots = runs.map((one) => svg(this.dots, "circle", { r: 2.5 + one.width * 0.5, fill: one.colour, stroke: "var(--card)" }));
    const begin = performance.now();
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const step = (now) => {
      if (turn !== this.turn) return;
      const t = Math.min(1, Math.max(0, (now - begin) / milliseconds));
      const [u, v, w] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
      runs.forEach(({ curve: [a, control, b] }, i) => {
        dots[i].setAttribute("cx", u * a[0] + v * control[0] + w * b[0]);
        dots[i].setAttribute("cy", u * a[1] + v * control[1] + w * b[1]);
      });
      if (t < 1) requestAnimationFrame(step);
      else this.dots.replaceChildren();
    };
    requestAnimationFrame(step);
  }
}
