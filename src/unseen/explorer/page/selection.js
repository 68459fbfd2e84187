// Owns the set of selected nodes: lasso, rectangle, and the address that holds the selection.
let selection = new Set(),
  changed = new Set(),
  lasso = null,
  mode = "move";

/** Select these nodes, or add them to those selected. */
function choose(rows, { add = false, from = "", share = true } = {}) {
  selection = new Set(add ? [...selection, ...rows] : rows);
  paint();
  fillSelection();
  fillTable();
  if (selection.size) openTab("selection");
  say(`${count(selection.size, "node", "nodes")} selected${from ? ` (${from})` : ""}`);
  if (share) shareSelection();
}

/** Tell a notebook what is selected; elsewhere the address holds it. */
function shareSelection() {
  const rows = selection.size || state.selected < 0 ? [...selection] : [state.selected];
  if (isFramed) report({ selection: rows.map((i) => page.ids[i]) });
  if (!hasAddress) return;
  const shared = sharedRows();
  history.replaceState(
    null,
    "",
    selection.size && shared.length < MOST_SIGNS ? `#rows=${shared}` : location.pathname,
  );
}

/** Select what Python selected. */
function takeSelection(nodes) {
  const rows = nodes.map(rowOf).filter((i) => i >= 0),
    isShowing = !selection.size && rows.length === 1 && rows[0] === state.selected;
  if (isShowing || (rows.length === selection.size && rows.every((i) => selection.has(i)))) return;
  choose(rows, { share: false });
}

const hasAddress = location.protocol !== "about:"; // as that of a frame in a notebook
const MOST_SIGNS = 30000; // of an address; browsers and mail programs cut longer ones

/** The selection as part of the address: runs of rows, each as distance to the last and length. */
function sharedRows() {
  const runs = [];
  let end = 0;
  for (const i of [...selection].sort((a, b) => a - b)) {
    if (runs.length && i === end) runs[runs.length - 1][1] += 1;
    else runs.push([i - end, 1]);
    end = i + 1;
  }
  return runs
    .map(([gap, length]) => gap.toString(36) + (length > 1 ? `-${length.toString(36)}` : ""))
    .join(".");
}

/** The rows that an address names. */
function rowsShared(text) {
  const rows = [];
  let end = 0;
  for (const run of text.split(".")) {
    const [gap, length = 1] = run.split("-").map((part) => parseInt(part, 36));
    if (!(gap >= 0 && length >= 1 && end + gap + length <= n)) break; // the address of another page
    for (let i = end + gap; i < end + gap + length; i += 1) rows.push(i);
    end += gap + length;
  }
  return rows;
}

/** A click shows a node; with shift it joins the selection, or leaves it. */
function clicked(i, several) {
  if (!several) {
    select(i);
    if (selection.size) choose([]);
    if (i >= 0) openTab("node");
    return;
  }
  if (i < 0) return;
  const rows = selection.size || state.selected < 0 ? [...selection] : [state.selected];
  choose(rows.includes(i) ? rows.filter((j) => j !== i) : [...rows, i]);
}

function setMode(name) {
  mode = name;
  for (const key of ["move", "lasso", "box"])
    byId(`mode-${key}`).setAttribute("aria-pressed", key === mode);
  stage.classList.toggle("drawing", mode !== "move");
  say(
    {
      move: "Dragging moves the map",
      lasso: "Dragging draws a lasso",
      box: "Dragging draws a rectangle",
    }[mode],
  );
}
for (const key of ["move", "lasso", "box"])
  byId(`mode-${key}`).addEventListener("click", () => setMode(key));

function beginLasso(x, y) {
  lasso = [[x, y]];
}

function extendLasso(x, y) {
  if (mode === "box") {
    const [[left, top]] = lasso;
    lasso = [
      [left, top],
      [x, top],
      [x, y],
      [left, y],
    ];
  } else lasso.push([x, y]);
  redraw();
}

function drawLasso(pen, accent) {
  if (!lasso || lasso.length < 2) return;
  pen.beginPath();
  for (const [x, y] of lasso) pen.lineTo(x, y);
  pen.closePath();
  pen.strokeStyle = accent;
  pen.lineWidth = 2;
  pen.stroke();
  pen.globalAlpha = 0.12;
  pen.fillStyle = accent;
  pen.fill();
  pen.globalAlpha = 1;
}

/** The shown nodes within a closed line on the screen, by the even-odd rule. */
function inside(path) {
  const xs = path.map(([x]) => x),
    ys = path.map(([, y]) => y),
    rows = [];
  const [left, right, top, bottom] = [
    Math.min(...xs),
    Math.max(...xs),
    Math.min(...ys),
    Math.max(...ys),
  ];
  for (let i = 0; i < n; i += 1) {
    const x = pixelX(px[i]),
      y = pixelY(py[i]);
    if (x < left || x > right || y < top || y > bottom || !isShown(i)) continue;
    let within = false;
    for (let a = 0, b = path.length - 1; a < path.length; b = a, a += 1) {
      if (ys[a] > y !== ys[b] > y && x < ((xs[b] - xs[a]) * (y - ys[a])) / (ys[b] - ys[a]) + xs[a])
        within = !within;
    }
    if (within) rows.push(i);
  }
  return rows;
}

/** Copy the address that holds this selection; the address bar has it too. */
async function copyAddress() {
  if (!location.hash.startsWith("#rows=")) {
    tell("So many nodes do not fit into an address; save them as CSV");
    return;
  }
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  tell("The address of this page holds the selection");
}
