// Owns the map: the part of it in view, names and rings on top of the points, the node under the
// pointer.
const stage = byId("stage"),
  overlay = byId("overlay"),
  tip = byId("tip");
let points = byId("points");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
// "#canvas" at the end of the address draws without WebGL, "#webgl" always with it.
const wantsWebgl = location.hash === "#webgl" || (location.hash !== "#canvas" && hasGraphicsCard());
let renderer = (wantsWebgl ? webglRenderer(points) : null) ?? pixelRenderer(points);
points.addEventListener("webglcontextlost", () => {
  // After a sleep or a driver's restart. A canvas cannot change its kind: another takes its place.
  const other = make("canvas", { "aria-hidden": "true" });
  points.replaceWith(other);
  points = other;
  renderer = pixelRenderer(points);
  document.documentElement.dataset.renderer = renderer.kind;
  resize();
});
const state = { colouring: colourings[0], selected: -1, hover: -1, only: null };
const now = () => state.colouring;
const view = { x: 0.5, y: 0.5, scale: 1, fit: 1 };
const size = { width: 1, height: 1, ratio: 1, wide: 1, tall: 1 };
const BULK = [1, 1.35, 1.15, 1.25, 1.2, 1.2, 1.2];
let scene = null,
  waiting = false,
  labels = [];

const isShown = (i) =>
  !now().hidden.has(now().codes[i]) && (typeCodes === null || typesShown.has(typeCodes[i]));

/** Work out colours, shapes and the order of drawing; quiet nodes lie at the bottom. */
function paint() {
  const colouring = now(),
    some = selection.size > 0,
    { codes, categories } = colouring;
  const looks = categories.map((of) => {
    const [r, g, b] = rgb(colourOf(of));
    return (((of.quiet || of.muted ? 130 : 225) << 24) | (b << 16) | (g << 8) | r) >>> 0;
  });
  const levels = categories.map((of, code) =>
    colouring.hidden.has(code) ? 3 : of.quiet || of.muted ? 0 : 1,
  );
  const base = Math.min(
    4.2,
    Math.max(n > 200000 ? 1 : 1.7, (0.4 * size.fitted) / Math.sqrt(Math.max(n, 1))),
  );
  const radii = categories.map(
    (of) => base * (of.quiet ? 0.75 : BULK[of.shape]) * (of.caption ? 1.2 : 1),
  );
  const whole = new Uint32Array(n),
    level = new Uint8Array(n),
    sizes = [0, 0, 0, 0];
  scene = {
    colour: new Uint8Array(whole.buffer),
    shape: new Uint8Array(n),
    radius: new Float32Array(n),
    order: new Uint32Array(0),
  };
  for (let i = 0; i < n; i += 1) {
    const code = codes[i],
      chosen = some && selection.has(i);
    const strength = chosen ? 255 : 55; // the others stay, muted
    whole[i] = some ? ((looks[code] & 0xffffff) | (strength << 24)) >>> 0 : looks[code];
    scene.shape[i] = categories[code].shape;
    scene.radius[i] = radii[code];
    level[i] =
      typeCodes !== null && !typesShown.has(typeCodes[i])
        ? 3
        : chosen && levels[code] < 3
          ? 2
          : levels[code];
    sizes[level[i]] += 1;
  }
  const next = [0, sizes[0], sizes[0] + sizes[1]];
  scene.order = new Uint32Array(n - sizes[3]);
  for (let i = 0; i < n; i += 1)
    if (level[i] < 3) {
      scene.order[next[level[i]]] = i;
      next[level[i]] += 1;
    }
  const likely = probability;
  if (likely !== null && colouring.key === "probability")
    scene.order.subarray(sizes[0], sizes[0] + sizes[1]).sort((a, b) => likely[a] - likely[b]);
  renderer.scene(scene);
  labels = places(colouring);
  redraw();
}

/** Where the name of each category belongs: at the densest spot of its nodes. */
function places(colouring) {
  const source = colouring.key === "probability" && byKey.group ? byKey.group : colouring,
    cells = 44,
    edge = 2;
  const sums = source.categories.map((of, code) =>
    of.quiet || of.step !== undefined || source.hidden.has(code)
      ? null
      : new Float32Array(3 * cells * cells),
  );
  for (let i = 0; i < n; i += 1) {
    const sum = sums[source.codes[i]];
    if (!sum || (typeCodes !== null && !typesShown.has(typeCodes[i]))) continue;
    const cell =
      3 *
      ((edge + Math.floor(px[i] * (cells - 2 * edge - 1))) * cells +
        edge +
        Math.floor(py[i] * (cells - 2 * edge - 1)));
    sum[cell] += 1;
    sum[cell + 1] += px[i];
    sum[cell + 2] += py[i];
  }
  const labels = [];
  sums.forEach((sum, code) => {
    let best = null;
    for (let cell = 0; sum && cell < cells * cells; cell += 1) {
      if (!sum[3 * cell]) continue;
      let near = sum[3 * cell];
      for (let right = -edge; right <= edge; right += 1)
        for (let down = -edge; down <= edge; down += 1)
          near += sum[3 * (cell + right * cells + down)];
      if (best === null || near > best.near)
        best = { near, x: sum[3 * cell + 1] / sum[3 * cell], y: sum[3 * cell + 2] / sum[3 * cell] };
    }
    const of = source.categories[code];
    if (best)
      labels.push({
        ...best,
        of,
        text: of.caption ? `${of.name}: ${of.caption}` : of.name,
        size: source.counts[code],
      });
  });
  // Found classes are named before all others.
  return labels
    .sort((a, b) => Number(!!b.of.caption) - Number(!!a.of.caption) || b.size - a.size)
    .slice(0, 40);
}

// t-SNE keeps neighbourhoods, not distances, so a map may be stretched a little.
const scaleX = () => view.scale * size.wide,
  scaleY = () => view.scale * size.tall;
const pixelX = (x) => (x - view.x) * scaleX() + size.width / 2;
const pixelY = (y) => (y - view.y) * scaleY() + size.height / 2;
const growth = () => Math.min(3, Math.max(0.8, (view.scale / view.fit) ** 0.4));

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw();
  });
}

function draw() {
  if (scene === null || byId("map-view").hidden) return;
  renderer.draw(
    { x: view.x, y: view.y, scaleX: scaleX() * size.ratio, scaleY: scaleY() * size.ratio },
    growth() * size.ratio,
  );
  const pen = overlay.getContext("2d"),
    style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink"),
    ground = style.getPropertyValue("--map"),
    accent = style.getPropertyValue("--accent");
  pen.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
  pen.clearRect(0, 0, size.width, size.height);
  if (state.selected >= 0) drawEdges(pen, accent, ground);
  if (selection.size <= 100)
    for (const i of selection) if (isShown(i)) ring(pen, i, 2, 1.5, accent);
  if (changed.size <= 3000) for (const i of changed) if (isShown(i)) ring(pen, i, 3, 1.5, ink);
  drawNames(pen, ink, ground);
  drawLasso(pen, accent);
  if (state.hover >= 0 && state.hover !== state.selected) ring(pen, state.hover, 4, 2, ink);
  if (stage.matches(":focus-visible")) {
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const [x, y] of [
      [9, 0],
      [0, 9],
    ]) {
      pen.moveTo(size.width / 2 - x, size.height / 2 - y);
      pen.lineTo(size.width / 2 + x, size.height / 2 + y);
    }
    pen.stroke();
  }
}

function ring(pen, i, more, width, colour) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  pen.arc(pixelX(px[i]), pixelY(py[i]), scene.radius[i] * growth() + more, 0, 7);
  pen.stroke();
}

/** The edges of the selected node: dashed where negative, with an arrow where directed. */
function drawEdges(pen, accent, ground) {
  const i = state.selected,
    links = linksOf(i),
    many = links.length > 200,
    x = pixelX(px[i]),
    y = pixelY(py[i]);
  pen.globalAlpha = many ? 0.35 : 0.85;
  for (const [colour, width] of [
    [ground, 4],
    [accent, 1.6],
  ])
    for (const sign of [1, -1]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.setLineDash(sign < 0 ? [6, 5] : []);
      pen.beginPath();
      for (const [j, , , own] of links)
        if (own === sign) {
          pen.moveTo(x, y);
          pen.lineTo(pixelX(px[j]), pixelY(py[j]));
        }
      pen.stroke();
    }
  pen.setLineDash([]);
  pen.fillStyle = accent;
  if (!many)
    for (const [j, , way] of links)
      if (way)
        way > 0
          ? arrow(pen, x, y, pixelX(px[j]), pixelY(py[j]), 7)
          : arrow(pen, pixelX(px[j]), pixelY(py[j]), x, y, 12);
  pen.globalAlpha = 1;
  for (const [j] of links) {
    pen.fillStyle = colourOf(category(now(), j));
    pen.beginPath();
    pen.arc(pixelX(px[j]), pixelY(py[j]), scene.radius[j] * growth() + 1.5, 0, 7);
    pen.fill();
    pen.strokeStyle = accent;
    pen.lineWidth = 1.5;
    pen.stroke();
  }
  ring(pen, i, 6, 6, ground);
  ring(pen, i, 6, 3, accent);
}

/** The head of an arrow, `gap` pixels before its end. */
function arrow(pen, x, y, toX, toY, gap) {
  const far = Math.hypot(toX - x, toY - y);
  if (far < gap + 10) return;
  const [right, down] = [(toX - x) / far, (toY - y) / far],
    [tipX, tipY] = [toX - right * gap, toY - down * gap];
  pen.beginPath();
  pen.moveTo(tipX, tipY);
  for (const side of [4, -4])
    pen.lineTo(tipX - 9 * right + side * down, tipY - 9 * down - side * right);
  pen.fill();
}

const CELLS = 96;
/** How many nodes lie left of and above each corner of a grid over the map. */
const corners = (() => {
  const sums = new Uint32Array((CELLS + 1) ** 2);
  for (let i = 0; i < n; i += 1) {
    const [column, row] = [px[i], py[i]].map((v) => Math.min(CELLS - 1, Math.floor(v * CELLS)));
    sums[(row + 1) * (CELLS + 1) + column + 1] += 1;
  }
  for (let k = CELLS + 2; k < sums.length; k += 1)
    if (k % (CELLS + 1)) sums[k] += sums[k - 1] + sums[k - CELLS - 1] - sums[k - CELLS - 2];
  return sums;
})();

/** About how many nodes a box on the screen covers, from its middle and half its size. */
function covered({ x, y, wide, tall }) {
  const clamp = (v) => Math.min(CELLS, Math.max(0, Math.round(v * CELLS))),
    [left, right] = [x - wide, x + wide].map((v) =>
      clamp((v - size.width / 2) / scaleX() + view.x),
    ),
    [top, bottom] = [y - tall, y + tall].map((v) =>
      clamp((v - size.height / 2) / scaleY() + view.y),
    ),
    sum = (row, column) => corners[row * (CELLS + 1) + column];
  return sum(bottom, right) - sum(top, right) - sum(bottom, left) + sum(top, left);
}

/** Where names are written: beside their nodes, none over another, a button, or a selection. */
function namePlaces(pen) {
  const narrow = size.width < 500,
    tall = narrow ? 8 : 9.5;
  pen.font = `600 ${narrow ? 11 : 13}px system-ui, sans-serif`;
  const box = stage.getBoundingClientRect(),
    taken = [...byId("map-view").querySelectorAll("[role=group], .hint")].map((group) => {
      const own = group.getBoundingClientRect();
      return {
        x: own.left - box.left + own.width / 2,
        y: own.top - box.top + own.height / 2,
        wide: own.width / 2,
        tall: own.height / 2,
      };
    });
  if (state.selected >= 0)
    taken.push({
      x: pixelX(px[state.selected]),
      y: pixelY(py[state.selected]),
      wide: 16,
      tall: 16,
    });
  const written = [];
  for (const name of labels) {
    const text = short(name.text, narrow ? 26 : 44),
      wide = pen.measureText(text).width / 2 + 5,
      [x, y] = [pixelX(name.x), pixelY(name.y)];
    if (x < 0 || y < 0 || x > size.width || y > size.height) continue;
    const isFree = (spot) =>
      spot.x - wide > 2 &&
      spot.x + wide < size.width - 2 &&
      spot.y > 10 &&
      spot.y < size.height - 10 &&
      !taken.some(
        (t) => Math.abs(t.x - spot.x) < t.wide + wide && Math.abs(t.y - spot.y) < t.tall + tall,
      );
    // near its densest spot, where it covers the fewest nodes
    const spots = [];
    for (const gap of narrow ? [5, 12] : [10, 24, 40])
      for (const [right, down] of [
        [1, 0],
        [-1, 0],
        [0, 1],
        [0, -1],
        [1, 1],
        [-1, 1],
        [1, -1],
        [-1, -1],
      ])
        spots.push({ x: x + right * (wide + gap), y: y + down * (tall + gap), wide, tall, gap });
    const cost = (spot) => (300 * covered(spot)) / n + spot.gap / 3;
    const best = spots.filter(isFree).sort((a, b) => cost(a) - cost(b))[0];
    if (!best) continue;
    written.push({ text, x: best.x, y: best.y, wide, tall });
    taken.push(best);
  }
  return written;
}

/** Names with a halo, so that points under them do not make them illegible. */
function drawNames(pen, ink, ground) {
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  Object.assign(pen, { strokeStyle: ground, fillStyle: ink, lineWidth: 5, lineJoin: "round" });
  for (const { text, x, y } of namePlaces(pen)) {
    pen.strokeText(text, x, y);
    pen.fillText(text, x, y);
  }
}

// Nodes by cells of the map, so that the pointer need not look at all of them.
const grid = (() => {
  const side = Math.max(1, Math.floor(Math.sqrt(n / 3))),
    cell = (v) => Math.min(side - 1, Math.floor(v * side));
  const counts = new Uint32Array(side * side),
    order = new Uint32Array(n);
  for (let i = 0; i < n; i += 1) counts[cell(py[i]) * side + cell(px[i])] += 1;
  const start = new Uint32Array(side * side + 1);
  counts.forEach((c, k) => {
    start[k + 1] = start[k] + c;
  });
  const place = start.slice();
  for (let i = 0; i < n; i += 1) order[place[cell(py[i]) * side + cell(px[i])]++] = i;
  return { side, cell, start, order };
})();

/** The shown node nearest to a spot of the stage, within `reach` pixels. */
function pick(x, y, reach) {
  const ux = (x - size.width / 2) / scaleX() + view.x,
    uy = (y - size.height / 2) / scaleY() + view.y,
    rx = reach / scaleX(),
    ry = reach / scaleY();
  const clamp = (v) => grid.cell(Math.min(1, Math.max(0, v)));
  let best = -1,
    nearest = reach * reach;
  for (let row = clamp(uy - ry); row <= clamp(uy + ry); row += 1)
    for (let column = clamp(ux - rx); column <= clamp(ux + rx); column += 1) {
      const at = row * grid.side + column;
      for (let k = grid.start[at]; k < grid.start[at + 1]; k += 1) {
        const i = grid.order[k],
          far = (pixelX(px[i]) - x) ** 2 + (pixelY(py[i]) - y) ** 2;
        if (far <= nearest && isShown(i)) {
          best = i;
          nearest = far;
        }
      }
    }
  return best;
}
