// What is chosen (step, rank, block, colours), and everything that changes it: buttons, keys, the address.
const chosen = { position: 0, rank: null, block: null, colour: "destination", view: P <= 12 ? "both" : "after", bytes: 64 };
let timer = null;

const ring = new Ring(byId("ring"), (rank) => choose({ rank: chosen.rank === rank ? null : rank }));
const grids = [0, 1].map(() => new Grid(byId("grids"), pick, tell));
const network = data.network ? new Network(data.network, go) : null;

function choose(change) {
  Object.assign(chosen, change);
  draw();
}

function go(position, animated = false) {
  const forward = position > chosen.position;
  choose({ position: Math.max(0, Math.min(frames.length, position)) });
  if (animated && forward && !matchMedia("(prefers-reduced-motion: reduce)").matches) ring.animate(timer ? 1000 : 550);
}

function pick(cell, state) {
  if (!cell) return;
  if (cell.place === undefined) return choose({ rank: chosen.rank === cell.rank ? null : cell.rank });
  const block = state.contents[cell.rank][cell.place];
  if (block >= 0) choose({ block: block === chosen.block ? null : block });
}

function tell(event, cell, state) {
  const tip = byId("tip");
  const held = cell && cell.place !== undefined && state ? state.contents[cell.rank][cell.place] : -1;
  tip.hidden = !cell || cell.place === undefined;
  if (tip.hidden) return;
  const digits = held >= 0 && data.digits.length > 1 ? `\ndigits of its offset: ${[...data.offsets[held]].reverse().join(" ")}` : "";
  const old = held >= 0 && !state.isLive(cell.rank, cell.place) ? "\n(it has moved on from here)" : "";
  tip.textContent = `rank ${cell.rank}, ${placeName(cell.place)}: ${held < 0 ? "nothing yet" : `block ${blockName(held)}${digits}${old}`}`;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - 260)}px`;
  tip.style.top = `${event.clientY + 16}px`;
}

// How blocks are coloured now.
function colours() {
  if (chosen.colour === "source") return (block) => data.fills[sourceOf(block)];
  const digit = digitAt(chosen.position);
  if (chosen.colour !== "digit" || digit === null) return (block) => data.fills[destinationOf(block)];
  const radix = data.digits[digit][2];
  return (block) => {
    const value = data.offsets[block][digit];
    return value === 0 ? "#d3d7dd" : data.fills[Math.round((value * P) / radix) % P];
  };
}

function legend() {
  const digit = digitAt(chosen.position);
  const about = chosen.colour !== "digit" || digit === null ? `Colour: ${chosen.colour === "source" ? "source" : "destination"}.`
    : `Colour: the digit of weight ${data.digits[digit][1]}; grey is 0.`;
  return `${about} Pale: has moved on. Framed: moves in this step.`;
}

// The cells that a frame reads, or writes.
function touchedBy(position, written) {
  const width = 2 * P + data.scratch;
  const cells = new Set();
  for (const { source, target, moves } of position > 0 ? transfers(frames[position - 1]) : [])
    for (const { from, to } of moves) cells.add(written ? target * width + to : source * width + from);
  return cells;
}

function drawGrids() {
  const { position, view } = chosen;
  const available = byId("grids").clientWidth;
  const colourOf = colours();
  const wanted = [
    [view !== "after" && position > 0, "Before this step", position - 1, false],
    [view !== "before" || position === 0, position > 0 ? "After this step" : "At the start", position, true],
  ];
  wanted.forEach(([visible, heading, frame, written], i) => {
    const grid = grids[i];
    grid.canvas.hidden = grid.heading.hidden = !visible;
    grid.state = null;
    if (!visible) return;
    grid.layout(available);
    grid.draw(heading, stateAfter(frame), touchedBy(position, written), { ...chosen, colourOf });
    grid.canvas.setAttribute("aria-label", `${heading}: the buffers of ${P} ranks; a rank's part is listed where it is chosen`);
  });
  byId("legend").textContent = legend();
}

function draw() {
  const { position, rank, block } = chosen;
  const frame = frames[position - 1];
  byId("title").textContent = frame ? `${position}. ${frame.title}` : "Start";
  byId("meaning").textContent = frame ? frame.meaning : `Each of ${count(P, "rank")} has a block for each rank in its send buffer.`;
  if (position === frames.length) byId("meaning").textContent += " Now every block is where it belongs.";
  byId("position").value = position;
  byId("position").setAttribute("aria-valuetext", byId("title").textContent);
  [...byId("ticks").children].forEach((tick, i) => {
    tick.classList.toggle("now", i + 1 === position);
    tick.classList.toggle("done", i + 1 < position);
  });
  byId("first").disabled = byId("back").disabled = position === 0;
  byId("last").disabled = byId("forward").disabled = position === frames.length;
  byId("rank").value = rank ?? "";
  byId("source").value = block === null ? "" : sourceOf(block);
  byId("destination").value = block === null ? "" : destinationOf(block);
  byId("colour").value = chosen.colour;
  byId("view").value = chosen.view;
  ring.draw(chosen);
  drawGrids();
  drawCost(chosen);
  drawJourney({ ...chosen, go });
  drawRankDetail({ ...chosen, colourOf: colours(), follow: (one) => choose({ block: one }) });
  if (network) network.draw(chosen);
  const words = { step: position || null, rank, block: block === null ? null : blockName(block).replace("→", "-") };
  const hash = Object.entries(words).filter(([, value]) => value !== null).map(([key, value]) => `${key}=${value}`).join("&");
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
}

function play(on = timer === null) {
  clearInterval(timer);
  timer = null;
  if (on) {
    if (chosen.position === frames.length) go(0);
    timer = setInterval(() => (chosen.position < frames.length ? go(chosen.position + 1, true) : play(false)), 1500);
    go(chosen.position + 1, true);
  }
  byId("play").classList.toggle("playing", timer !== null);
  byId("play").setAttribute("aria-label", timer ? "Pause" : "Play");
}

const next = (list, value, step = 1) => list[(list.indexOf(value) + step + list.length) % list.length];

// The next block that a rank sends at this step or later; after the last one, the first.
function nextBlock() {
  const rank = chosen.rank ?? 0;
  const moving = frames.slice(Math.max(0, chosen.position - 1)).find((frame) => frame.messages.some((one) => one.source === rank));
  const blocks = moving ? moving.messages.filter((one) => one.source === rank).flatMap((one) => one.moves.map((move) => move.block)) : [];
  return blocks.length ? next(blocks, chosen.block) : chosen.block;
}

const keys = {
  ArrowRight: () => go(chosen.position + 1, true),
  ArrowLeft: () => go(chosen.position - 1),
  Home: () => go(0),
  End: () => go(frames.length),
  " ": () => play(),
  r: () => choose({ rank: next([null, ...data.order], chosen.rank) }),
  R: () => choose({ rank: next([null, ...data.order], chosen.rank, -1) }),
  f: () => choose({ block: nextBlock() }),
  c: () => choose({ colour: next(colourNames(), chosen.colour) }),
  v: () => choose({ view: next(["both", "before", "after"], chosen.view) }),
  Escape: () => choose({ rank: null, block: null }),
};
const colourNames = () => [...byId("colour").options].map((option) => option.value);

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const typing = event.target.matches("select, input[type=number]") && event.key !== "Escape";
  const pressing = event.target.matches("button") && event.key === " ";
  if (typing || pressing || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});

function option(value, text) {
  return element("option", { value }, text);
}

function readHash() {
  const words = new URLSearchParams(location.hash.slice(1));
  const whole = (text, most) => (/^\d+$/.test(text ?? "") && Number(text) <= most ? Number(text) : null);
  const [source, destination] = (words.get("block") ?? "").split("-").map((text) => whole(text, P - 1));
  chosen.position = whole(words.get("step"), frames.length) ?? 0;
  chosen.rank = whole(words.get("rank"), P - 1);
  chosen.block = source === null || destination === null || destination === undefined ? null : source * P + destination;
}

function begin() {
  document.title = `${data.spec}, P = ${P}`;
  byId("spec").textContent = data.spec;
  document.querySelector("main").classList.toggle("many", manyRanks);
  const map = data.nodes.length < 30 ? ` (${data.nodes})` : "";
  const nodes = hasNodes ? ` on ${new Set(nodeOf).size} nodes${map}` : "";
  byId("summary").textContent = `${count(P, "rank")}${nodes}. A rank sends K = ${data.most.K} messages with D = ${data.most.D} blocks` +
    `${new Set(data.D).size > 1 ? " at most" : ""}, and needs working memory for ${count(data.scratch, "block")}.`;
  byId("position").max = frames.length;
  byId("ticks").append(...frames.map((frame, i) => {
    const tick = element("span", { class: frame.messages.length ? "message" : "", title: frame.title });
    tick.addEventListener("click", () => go(i + 1));
    return tick;
  }));
  byId("rank").append(option("", "all"), ...data.order.map((rank) => option(rank, rank)));
  for (const id of ["source", "destination"])
    byId(id).append(option("", "–"), ...Array.from({ length: P }, (_, rank) => option(rank, rank)));
  if (data.digits.length < 2) byId("colour").querySelector("[value=digit]").remove();
  listen();
  readHash();
  draw();
}

function listen() {
  const clicks = { first: "Home", back: "ArrowLeft", forward: "ArrowRight", last: "End", play: " " };
  for (const [id, key] of Object.entries(clicks)) byId(id).addEventListener("click", keys[key]);
  byId("position").addEventListener("input", (event) => go(Number(event.target.value)));
  byId("rank").addEventListener("change", (event) => choose({ rank: event.target.value === "" ? null : Number(event.target.value) }));
  byId("colour").addEventListener("change", (event) => choose({ colour: event.target.value }));
  byId("view").addEventListener("change", (event) => choose({ view: event.target.value }));
  byId("bytes").addEventListener("input", (event) => choose({ bytes: Math.max(0, Number(event.target.value) || 0) }));
  byId("forget").addEventListener("click", () => choose({ block: null }));
  for (const id of ["source", "destination"])
    byId(id).addEventListener("change", (event) => {
      const other = byId(id === "source" ? "destination" : "source");
      if (event.target.value !== "" && other.value === "") other.value = (Number(event.target.value) + 1) % P;
      const both = byId("source").value !== "" && byId("destination").value !== "";
      choose({ block: both ? Number(byId("source").value) * P + Number(byId("destination").value) : null });
    });
  addEventListener("hashchange", () => { readHash(); draw(); });
  addEventListener("resize", drawGrids);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

begin();
