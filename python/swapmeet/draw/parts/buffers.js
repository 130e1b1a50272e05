// What the buffers of all ranks hold, a row for each rank and a cell for each block.
const parts = [
  { name: "send buffer", begin: 0, length: P },
  { name: "receive buffer", begin: P, length: P },
  ...(data.scratch ? [{ name: "working memory", begin: 2 * P, length: data.scratch }] : []),
];

class Grid {
  constructor(parent, pick, tell) {
    this.heading = document.createElement("h4");
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    parent.append(this.heading, this.canvas);
    this.canvas.addEventListener("click", (event) => pick(this.at(event), this.state));
    this.canvas.addEventListener("mousemove", (event) => tell(event, this.at(event), this.state));
    this.canvas.addEventListener("mouseleave", (event) => tell(event, null, null));
  }

  layout(available) {
    const cells = parts.reduce((sum, part) => sum + part.length, 0);
    this.left = 30;
    this.gap = 14;
    const room = available - this.left - this.gap * parts.length;
    this.cell = Math.max(3, Math.min(34, Math.floor((10 * room) / cells) / 10));
    this.row = Math.max(8, Math.min(26, Math.round(430 / P)));
    this.top = 30;
    let x = this.left;
    this.columns = parts.map((part) => {
      const begin = x;
      x += part.length * this.cell + this.gap;
      return begin;
    });
    let y = this.top;
    this.rows = [];
    data.order.forEach((rank, i) => {
      if (i > 0 && nodeOf[rank] !== nodeOf[data.order[i - 1]]) y += Math.max(4, this.row * 0.35);
      this.rows[rank] = y;
      y += this.row;
    });
    this.width = x;
    this.height = y + 4;
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = Math.ceil(this.width * scale);
    this.canvas.height = Math.ceil(this.height * scale);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.context = this.canvas.getContext("2d");
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
  }

  // The cell under the pointer: {rank, place}, or only {rank} beside the buffers, or null.
  at(event) {
    const rank = this.rows.findIndex((y) => event.offsetY >= y && event.offsetY < y + this.row);
    if (rank < 0) return null;
    for (const [i, part] of parts.entries()) {
      const index = Math.floor((event.offsetX - this.columns[i]) / this.cell);
      if (index >= 0 && index < part.length) return { rank, place: part.begin + index };
    }
    return event.offsetX < this.left ? { rank } : null;
  }

  // `touched`: which cells to frame, a set of rank * places + place.
  draw(heading, state, touched, { rank, block, colourOf }) {
    this.state = state;
    this.heading.textContent = heading;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name);
    const context = this.context;
    context.clearRect(0, 0, this.width, this.height);
    this.drawFrame(context, colour, rank);
    const marks = [];
    for (const one of data.order)
      for (const [i, part] of parts.entries())
        for (let k = 0; k < part.length; ++k) {
          const place = part.begin + k;
          const held = state.contents[one][place];
          const [x, y] = [this.columns[i] + k * this.cell, this.rows[one]];
          this.drawCell(context, colour, x, y, held, state.isLive(one, place), block, colourOf);
          if (held !== -1 && held === block) marks.push([x, y, colour("--mark"), state.isLive(one, place) ? Math.min(3.5, this.cell / 2) : 1]);
        }
    this.drawContour(context, colour, touched);
    for (const [x, y, stroke, width] of marks) {
      context.lineWidth = width;
      context.strokeStyle = stroke;
      context.strokeRect(x + 0.5, y + 0.5, this.cell - 1, this.row - 1);
    }
  }

  // A line around what is touched: around each cell if cells are large, else around all that lie together.
  drawContour(context, colour, touched) {
    const has = (rank, part, k) => k >= 0 && k < part.length && touched.has(rank * (2 * P + data.scratch) + part.begin + k);
    const single = this.cell >= 11;
    context.beginPath();
    data.order.forEach((rank, row) => {
      const [above, below] = [data.order[row - 1], data.order[row + 1]];
      for (const [i, part] of parts.entries())
        for (let k = 0; k < part.length; ++k) {
          if (!has(rank, part, k)) continue;
          const [left, top] = [this.columns[i] + k * this.cell, this.rows[rank]];
          const [right, bottom] = [left + this.cell - (single ? 1 : 0), top + this.row - (single ? 1 : 0)];
          const line = (open, ...ends) => {
            if (!single && open) return;
            context.moveTo(ends[0], ends[1]);
            context.lineTo(ends[2], ends[3]);
          };
          line(has(rank, part, k - 1), left, top, left, bottom);
          line(has(rank, part, k + 1), right, top, right, bottom);
          line(above !== undefined && has(above, part, k), left, top, right, top);
          line(below !== undefined && has(below, part, k), left, bottom, right, bottom);
        }
    });
    context.lineWidth = 1.5;
    context.lineCap = "square";
    context.strokeStyle = colour("--ink");
    context.stroke();
  }

  drawFrame(context, colour, rank) {
    context.textBaseline = "middle";
    context.font = "600 12px system-ui, 'DejaVu Sans', sans-serif";
    context.fillStyle = colour("--ink");
    parts.forEach((part, i) => context.fillText(part.name, this.columns[i], 8, part.length * this.cell + this.gap));
    context.font = "10px system-ui, 'DejaVu Sans', sans-serif";
    context.fillStyle = colour("--faint");
    context.textAlign = "center";
    const every = [1, 2, 4, 8, 16, 32, 64].find((step) => step * this.cell >= 17) ?? 64;
    parts.forEach((part, i) => {
      for (let k = 0; k < part.length; k += every) context.fillText(k, this.columns[i] + (k + 0.5) * this.cell, 22);
    });
    const skip = this.row >= 11 ? 1 : this.row >= 6 ? 2 : 4;
    data.order.forEach((one, i) => {
      if (one === rank) {
        context.fillStyle = colour("--line");
        context.fillRect(0, this.rows[one] - 1, this.width, this.row + 2);
      }
      context.fillStyle = colour(one === rank ? "--ink" : "--faint");
      if (i % skip === 0) context.fillText(one, 12, this.rows[one] + this.row / 2);
    });
  }

  drawCell(context, colour, x, y, held, live, block, colourOf) {
    const [width, height] = [this.cell - (this.cell > 7 ? 1 : 0.3), this.row - (this.row > 9 ? 1 : 0.3)];
    context.fillStyle = held < 0 ? colour("--empty") : colourOf(held);
    context.globalAlpha = held < 0 ? 1 : (live ? 1 : 0.25) * (block === null || held === block ? 1 : 0.55);
    context.fillRect(x, y, width, height);
    if (held >= 0 && this.cell >= 14 && this.row >= 17) {
      context.fillStyle = live ? "#1d2129" : colour("--ink");
      const [source, destination] = [String(sourceOf(held)), String(destinationOf(held))];
      const small = this.cell < 26;
      context.font = `${small ? 8 : 10.5}px system-ui, 'DejaVu Sans', sans-serif`;
      if (small) {
        context.fillText(source, x + width / 2, y + height * 0.28);
        context.fillText(destination, x + width / 2, y + height * 0.75);
      } else {
        context.fillText(`${source}→${destination}`, x + width / 2, y + height / 2 + 0.5);
      }
    }
    context.globalAlpha = 1;
  }
}
