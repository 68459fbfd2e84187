// The map: what is in view, what lies under the pointer, and what is drawn on top of the points.
const stage = byId("stage"), overlay = byId("overlay"), tip = byId("tip");
let points = byId("points");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
// "#canvas" at the end of the address draws without WebGL, for machines whose graphics misbehave; "#webgl" with it at any price.
const wantsWebgl = location.hash === "#webgl" || (location.hash !== "#canvas" && hasGraphicsCard());
let renderer = (wantsWebgl ? webglRenderer(points) : null) ?? pixelRenderer(points);
points.addEventListener("webglcontextlost", () => {
  // The card was taken away (sleep, a driver's restart): a canvas cannot change its kind, so another takes its place.
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
let scene = null, waiting = false, labels = [];

const isShown = (i) => !now().hidden.has(now().codes[i]);

/** Work out colours, shapes and the order of drawing; quiet nodes lie at the bottom. */
function paint() {
  const colouring = now(), order = [[], [], []], some = selection.size > 0;
  const looks = colouring.categories.map((of) => [...rgb(colourOf(of)), of.quiet || of.muted ? 130 : 225]);
  scene = { colour: new Uint8Array(4 * n), shape: new Uint8Array(n), radius: new Float32Array(n), order: null };
  const base = Math.min(4.2, Math.max(1.7, 0.4 * size.fitted / Math.sqrt(Math.max(n, 1))));
  for (let i = 0; i < n; i += 1) {
    const code = colouring.codes[i], of = colouring.categories[code];
    scene.colour.set(looks[code], 4 * i);
    if (some) scene.colour[4 * i + 3] = selection.has(i) ? 255 : 55; // the others stay, muted
    scene.shape[i] = of.shape;
    scene.radius[i] = base * (of.quiet ? 0.75 : BULK[of.shape]) * (of.caption ? 1.2 : 1);
    if (!colouring.hidden.has(code)) order[some && selection.has(i) ? 2 : of.quiet || of.muted ? 0 : 1].push(i);
  }
  if (probability !== null && colouring.key === "probability") order[1].sort((a, b) => probability[a] - probability[b]);
  scene.order = new Uint32Array(order[0].length + order[1].length + order[2].length);
  order.reduce((start, part) => { scene.order.set(part, start); return start + part.length; }, 0);
  renderer.scene(scene);
  labels = places(colouring);
  redraw();
}

/** Where the name of each category belongs: at the densest spot of its nodes. */
function places(colouring) {
  const source = colouring.key === "probability" && byKey.group ? byKey.group : colouring, cells = 40;
  const grids = source.categories.map((of, code) => (of.quiet || of.step !== undefined || source.hidden.has(code) ? null : new Map()));
  for (let i = 0; i < n; i += 1) {
    const grid = grids[source.codes[i]];
    if (!grid) continue;
    const cell = Math.floor(px[i] * (cells - 1)) * cells + Math.floor(py[i] * (cells - 1));
    const cellSum = grid.get(cell) ?? [0, 0, 0];
    grid.set(cell, [cellSum[0] + 1, cellSum[1] + px[i], cellSum[2] + py[i]]);
  }
  const labels = [];
  grids.forEach((grid, code) => {
    if (!grid || !grid.size) return;
    let best = null;
    for (const [cell, cellSum] of grid) {
      let near = cellSum[0];
      for (let right = -2; right <= 2; right += 1) for (let down = -2; down <= 2; down += 1) near += (grid.get(cell + right * cells + down) ?? [0])[0];
      if (best === null || near > best.near) best = { near, x: cellSum[1] / cellSum[0], y: cellSum[2] / cellSum[0] };
    }
    const of = source.categories[code];
    labels.push({ ...best, of, text: short(of.caption ? `${of.name}: ${of.caption}` : of.name, 44), size: source.counts[code] });
  });
  // Found classes are named before all others.
  return labels.sort((a, b) => !!b.of.caption - !!a.of.caption || b.size - a.size).slice(0, 40);
}

// t-SNE keeps neighbourhoods, not distances, so a map may be a little wider than tall, or taller than wide.
const scaleX = () => view.scale * size.wide, scaleY = () => view.scale * size.tall;
const screenX = (x) => (x - view.x) * scaleX() + size.width / 2;
const screenY = (y) => (y - view.y) * scaleY() + size.height / 2;
const growth = () => Math.min(3, Math.max(0.8, (view.scale / view.fit) ** 0.4));

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function draw() {
  if (scene === null || byId("map-view").hidden) return;
  renderer.draw({ x: view.x, y: view.y, scaleX: scaleX() * size.ratio, scaleY: scaleY() * size.ratio }, growth() * size.ratio);
  const pen = overlay.getContext("2d"), style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink"), ground = style.getPropertyValue("--map"), accent = style.getPropertyValue("--accent");
  pen.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
  pen.clearRect(0, 0, size.width, size.height);
  if (state.selected >= 0) drawEdges(pen, accent, ground);
  if (selection.size <= 100) for (const i of selection) if (isShown(i)) ring(pen, i, 2, 1.5, accent); // of more, their strength tells
  if (changed.size <= 3000) for (const i of changed) if (isShown(i)) ring(pen, i, 3, 1.5, ink);
  drawNames(pen, ink, ground);
  drawLasso(pen, accent);
  if (state.hover >= 0 && state.hover !== state.selected) ring(pen, state.hover, 4, 2, ink);
  if (stage.matches(":focus-visible")) {
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const [x, y] of [[9, 0], [0, 9]]) { pen.moveTo(size.width / 2 - x, size.height / 2 - y); pen.lineTo(size.width / 2 + x, size.height / 2 + y); }
    pen.stroke();
  }
}

function ring(pen, i, more, width, colour) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  pen.arc(screenX(px[i]), screenY(py[i]), scene.radius[i] * growth() + more, 0, 7);
  pen.stroke();
}

function drawEdges(pen, accent, ground) {
  const i = state.selected, near = neighboursOf(i);
  for (const [colour, width] of [[ground, 4], [accent, 1.6]]) {
    pen.strokeStyle = colour;
    pen.globalAlpha = near.length > 200 ? 0.35 : 0.85;
    pen.lineWidth = width;
    pen.beginPath();
    for (const j of near) { pen.moveTo(screenX(px[i]), screenY(py[i])); pen.lineTo(screenX(px[j]), screenY(py[j])); }
    pen.stroke();
  }
  pen.globalAlpha = 1;
  for (const j of near) {
    pen.fillStyle = colourOf(category(now(), j));
    pen.beginPath();
    pen.arc(screenX(px[j]), screenY(py[j]), scene.radius[j] * growth() + 1.5, 0, 7);
    pen.fill();
    pen.strokeStyle = accent;
    pen.lineWidth = 1.5;
    pen.stroke();
  }
  ring(pen, i, 6, 6, ground);
  ring(pen, i, 6, 3, accent);
}

function drawNames(pen, ink, ground) {
  const taken = [];
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.font = "600 13px system-ui, sans-serif";
  for (const name of labels) {
    const wide = pen.measureText(name.text).width / 2 + 5, x = Math.min(size.width - wide - 3, Math.max(wide + 3, screenX(name.x)));
    const free = (at) => at > 10 && at < size.height - 10 && !taken.some((t) => Math.abs(t.x - x) < t.wide + wide && Math.abs(t.y - at) < 19);
    const y = [0, 19, -19, 38, -38].map((step) => screenY(name.y) + step).find(free);
    if (y === undefined || Math.abs(x - screenX(name.x)) > 60) continue;
    taken.push({ x, y, wide });
    pen.strokeStyle = ground;
    pen.lineWidth = 5;
    pen.strokeText(name.text, x, y);
    pen.fillStyle = ink;
    pen.fillText(name.text, x, y);
  }
}

// Nodes by cells of the map, so that the pointer need not look at all of them.
const grid = (() => {
  const side = Math.max(1, Math.floor(Math.sqrt(n / 3))), cell = (v) => Math.min(side - 1, Math.floor(v * side));
  const counts = new Uint32Array(side * side), order = new Uint32Array(n);
  for (let i = 0; i < n; i += 1) counts[cell(py[i]) * side + cell(px[i])] += 1;
  const start = new Uint32Array(side * side + 1);
  counts.forEach((c, k) => { start[k + 1] = start[k] + c; });
  const place = start.slice();
  for (let i = 0; i < n; i += 1) order[place[cell(py[i]) * side + cell(px[i])]++] = i;
  return { side, cell, start, order };
})();

/** The shown node nearest to a spot of the stage, within `reach` pixels. */
function pick(x, y, reach) {
  const ux = (x - size.width / 2) / scaleX() + view.x, uy = (y - size.height / 2) / scaleY() + view.y, rx = reach / scaleX(), ry = reach / scaleY();
  const clamp = (v) => grid.cell(Math.min(1, Math.max(0, v)));
  let best = -1, nearest = reach * reach;
  for (let row = clamp(uy - ry); row <= clamp(uy + ry); row += 1) for (let column = clamp(ux - rx); column <= clamp(ux + rx); column += 1) {
    const at = row * grid.side + column;
    for (let k = grid.start[at]; k < grid.start[at + 1]; k += 1) {
      const i = grid.order[k], far = (screenX(px[i]) - x) ** 2 + (screenY(py[i]) - y) ** 2;
      if (far <= nearest && isShown(i)) { best = i; nearest = far; }
    }
  }
  return best;
}
