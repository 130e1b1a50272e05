// The schedule of all ranks as it was replayed, and what every buffer holds after each frame.
const data = JSON.parse(document.getElementById("schedule").textContent);
const P = data.ranks;
const frames = data.frames.map((frame) => ({
  ...frame,
  copies: frame.copies.map(([rank, flat]) => ({ source: rank, target: rank, moves: unflatten(flat) })),
  messages: frame.messages.map(([source, target, flat]) => ({ source, target, moves: unflatten(flat) })),
}));
const nodeOf = data.groups.length ? data.groups[0] : new Array(P).fill(0);
const hasNodes = new Set(nodeOf).size > 1;
const manyRanks = P > 32;

function unflatten(flat) {
  const moves = [];
  for (let i = 0; i < flat.length; i += 3) moves.push({ from: flat[i], to: flat[i + 1], block: flat[i + 2] });
  return moves;
}

const sourceOf = (block) => Math.floor(block / P);
const destinationOf = (block) => block % P;
const blockName = (block) => `${sourceOf(block)}→${destinationOf(block)}`;

function placeName(place) {
  if (place < P) return `send[${place}]`;
  return place < 2 * P ? `receive[${place - P}]` : `scratch[${place - 2 * P}]`;
}

const transfers = (frame) => [...frame.copies, ...frame.messages];
const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

// What is where after so many frames: contents[rank][place] is a block or -1; a block is live where it was written last.
function stateAfter(position) {
  const width = 2 * P + data.scratch;
  const contents = Array.from({ length: P }, () => new Int32Array(width).fill(-1));
  const live = new Int32Array(P * P);
  for (let rank = 0; rank < P; ++rank)
    for (let other = 0; other < P; ++other) {
      contents[rank][other] = rank * P + other;
      live[rank * P + other] = rank * width + other;
    }
  for (const frame of frames.slice(0, position))
    for (const { target, moves } of transfers(frame))
      for (const { to, block } of moves) {
        contents[target][to] = block;
        live[block] = target * width + to;
      }
  return { contents, isLive: (rank, place) => live[contents[rank][place]] === rank * width + place };
}

// All moves of a block: {frame, source, target, from, to}, in order.
function journeyOf(block) {
  const hops = [];
  frames.forEach((frame, number) => {
    for (const { source, target, moves } of transfers(frame))
      for (const move of moves)
        if (move.block === block) hops.push({ frame: number, source, target, from: move.from, to: move.to });
  });
  return hops;
}

// The digit that is at stake at a position: of its messages, else of the next ones, else of the last ones.
function digitAt(position) {
  const all = frames.map((frame) => frame.digit);
  const here = all.slice(Math.max(0, position - 1)).find((digit) => digit !== null);
  return here ?? all.findLast((digit) => digit !== null) ?? null;
}
