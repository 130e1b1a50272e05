// What stands beside the pictures: the cost, the journey of a block, and what a rank does.
const byId = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; bytes >= 1024 && i + 1 < units.length; ++i) bytes /= 1024;
  return `${Number(bytes.toPrecision(3)).toLocaleString("en")}\u00a0${units[i]}`;
}

// Messages and blocks that a rank has sent when so many frames are over.
function sentBy(rank, position) {
  const sent = frames.slice(0, position).flatMap((frame) => frame.messages.filter((message) => message.source === rank));
  return [sent.length, sent.reduce((sum, message) => sum + message.moves.length, 0)];
}

function drawCost({ position, rank, bytes }) {
  const alike = new Set(data.K).size === 1 && new Set(data.D).size === 1;
  const busiest = data.D.indexOf(Math.max(...data.D));
  const shown = rank ?? busiest;
  const [messages, blocks] = sentBy(shown, position);
  byId("whose").textContent = rank === null && alike ? "each rank" : `rank ${shown}${rank === null ? ", the busiest" : ""}`;
  const rows = [
    ["messages, K", messages.toLocaleString("en"), data.K[shown].toLocaleString("en")],
    ["blocks sent, D", blocks.toLocaleString("en"), data.D[shown].toLocaleString("en")],
    ["bytes sent", bytesText(blocks * bytes), bytesText(data.D[shown] * bytes)],
    ["working memory", "", bytesText(data.scratch * bytes)],
  ];
  byId("costs").replaceChildren(...rows.map((row) => element("tr", {}, ...row.map((text) => element("td", {}, text)))));
  const least = `A direct exchange sends ${P - 1} messages and blocks.`;
  byId("cost-note").textContent = data.segment
    ? `${least} Blocks above ${bytesText(data.segment)} are cut into segments: all this is done once for each.` : least;
}

function digitsTable(block, done, now) {
  const values = data.offsets[block];
  const order = values.map((_, i) => i).reverse();
  const row = (title, cells) => element("tr", {}, element("th", { scope: "row" }, title), ...cells);
  const dimensions = new Set(data.digits.map(([dimension]) => dimension)).size;
  const weights = order.map((i) => element("td", {}, (dimensions > 1 ? `${"abcdefgh"[data.digits[i][0]]}·` : "") + data.digits[i][1]));
  const digits = order.map((i) => {
    const cell = element("td", {}, String(values[i]));
    if (values[i] && i < done) cell.classList.add("gone");
    if (i === now) cell.classList.add("now");
    return cell;
  });
  return element("table", { id: "digits" }, element("tbody", {}, row("weight", weights), row("digit", digits)));
}

function drawJourney({ position, block, go }) {
  const target = byId("journey");
  if (block === null) {
    target.replaceChildren(element("p", { class: "hint" }, "Choose one here, or click it in a buffer."));
    return;
  }
  const parts = [];
  if (data.digits.length) {
    const now = position > 0 ? frames[position - 1].digit : null;
    const digitsDone = Math.max(0, ...frames.slice(0, position).map((frame) => (frame.digit === null ? 0 : frame.digit + 1)));
    const way = data.digits.length === 1 ? "It goes straight." : "Each digit that is not zero is one hop.";
    parts.push(element("p", {}, `${offsetText(block)} ${way}`), digitsTable(block, digitsDone, now));
  } else {
    parts.push(element("p", {}, `${blockName(block)} goes by the leaders of the nodes, if these differ.`));
  }
  const hops = journeyOf(block);
  const items = hops.map((hop) => {
    const sent = hop.source !== hop.target;
    const text = sent ? `rank ${hop.source} → rank ${hop.target}` : `rank ${hop.source}: ${placeName(hop.from)} → ${placeName(hop.to)}`;
    const button = element("button", { type: "button" }, `${hop.frame + 1}. ${text}`);
    button.title = `${frames[hop.frame].title}: ${placeName(hop.from)} → ${placeName(hop.to)}`;
    button.addEventListener("click", () => go(hop.frame + 1));
    const item = element("li", { class: sent ? "hop" : "copy" }, button);
    item.classList.toggle("now", hop.frame + 1 === position);
    return item;
  });
  parts.push(element("ol", {}, ...items));
  if (!hops.length) parts.push(element("p", { class: "hint" }, "It is where it belongs."));
  target.replaceChildren(...parts);
}

function offsetText(block) {
  if (new Set(data.digits.map(([dimension]) => dimension)).size > 1) return `${blockName(block)}: how far ahead it goes in each dimension.`;
  return `${blockName(block)} is ${(destinationOf(block) - sourceOf(block) + P) % P} ahead.`;
}

function blockButton(block, colourOf, follow) {
  const button = element("button", { type: "button", class: "block", style: `background:${colourOf(block)}` }, blockName(block));
  button.addEventListener("click", () => follow(block));
  return button;
}

function drawRankDetail({ position, rank, colourOf, follow }) {
  const target = byId("rank-detail");
  const frame = frames[position - 1];
  if (rank === null || !frame) {
    target.replaceChildren();
    return;
  }
  const list = element("dl", {});
  const say = (what, moves) => {
    const buttons = moves.slice(0, 64).map((move) => blockButton(move.block, colourOf, follow));
    const more = moves.length > buttons.length ? ` and ${moves.length - buttons.length} more` : "";
    list.append(element("dt", {}, what), element("dd", {}, ...buttons, more));
  };
  for (const message of frame.messages) {
    if (message.source === rank) say(`sends to ${message.target}`, message.moves);
    if (message.target === rank) say(`receives from ${message.source}`, message.moves);
  }
  for (const copy of frame.copies) if (copy.source === rank) say("copies", copy.moves);
  if (!list.children.length) list.append(element("dt", {}, "has nothing to do in this step"));
  target.replaceChildren(list);
}
