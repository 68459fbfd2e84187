// Owns the input on the map: pan and zoom by mouse, finger and keys; hover and click.
function fit() {
  Object.assign(view, { x: 0.5, y: 0.5, scale: view.fit });
  redraw();
}

function resize() {
  const ratio = Math.min(2, window.devicePixelRatio || 1),
    { clientWidth: width, clientHeight: height } = stage;
  if (!width || !height) return;
  const first = scene === null,
    zoom = view.scale / view.fit;
  const fitted = Math.max(1, Math.min(width, height) - 56),
    most = 1.7;
  const [wide, tall] = [
    Math.min(most, Math.max(1, (width - 56) / fitted)),
    Math.min(most, Math.max(1, (height - 56) / fitted)),
  ];
  Object.assign(size, { width, height, ratio, fitted, wide, tall });
  for (const canvas of [points, overlay]) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  view.fit = fitted;
  view.scale = first ? view.fit : zoom * view.fit;
  paint();
}

/** The whole map from afar, and a few nodes in view, beyond which nothing more can be seen. */
const ZOOM = [0.8, 40];

function zoomAt(x, y, factor) {
  const [least, most] = ZOOM.map((times) => times * view.fit),
    scale = Math.min(most, Math.max(least, view.scale * factor));
  view.x += ((x - size.width / 2) / size.wide) * (1 / view.scale - 1 / scale);
  view.y += ((y - size.height / 2) / size.tall) * (1 / view.scale - 1 / scale);
  view.scale = scale;
  redraw();
}

function moveBy(dx, dy) {
  view.x = Math.min(1.2, Math.max(-0.2, view.x - dx / scaleX()));
  view.y = Math.min(1.2, Math.max(-0.2, view.y - dy / scaleY()));
  redraw();
}

/** Go to a node; at once for readers who want no motion. */
function goTo(i) {
  const from = { ...view },
    scale = Math.max(view.scale, view.fit * 2.5),
    start = performance.now();
  const step = (time) => {
    const t = still.matches ? 1 : Math.min(1, Math.max(0, (time - start) / 350)),
      ease = t * (2 - t);
    view.x = from.x + (px[i] - from.x) * ease;
    view.y = from.y + (py[i] - from.y) * ease;
    view.scale = from.scale + (scale - from.scale) * ease;
    draw();
    if (t < 1) requestAnimationFrame(step);
  };
  step(start);
}

const pointers = new Map();
let travelled = 0;
const spot = (event) => {
  const box = stage.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

stage.addEventListener("pointerdown", (event) => {
  if (!pointers.size) travelled = 0;
  pointers.set(event.pointerId, spot(event));
  if (pointers.size === 1 && (mode !== "move" || (event.shiftKey && event.button === 0)))
    beginLasso(...spot(event));
  else lasso = null; // a second finger moves the map
  stage.setPointerCapture(event.pointerId);
  stage.classList.add("dragging");
});
stage.addEventListener("pointermove", (event) => {
  const [x, y] = spot(event);
  if (!pointers.has(event.pointerId)) {
    hover(pick(x, y, 12), x, y);
    return;
  }
  const [oldX, oldY] = pointers.get(event.pointerId);
  const other = [...pointers].find(([key]) => key !== event.pointerId);
  pointers.set(event.pointerId, [x, y]);
  // a busy browser hands over several moves as one event
  const moves = event.getCoalescedEvents?.() ?? [];
  let lastX = oldX,
    lastY = oldY;
  for (const [nextX, nextY] of (moves.length ? moves : [event]).map(spot)) {
    travelled += Math.abs(nextX - lastX) + Math.abs(nextY - lastY);
    if (lasso) extendLasso(nextX, nextY);
    [lastX, lastY] = [nextX, nextY];
  }
  if (lasso) return;
  if (other === undefined) {
    moveBy(x - oldX, y - oldY);
    return;
  }
  const [fixedX, fixedY] = other[1],
    before = Math.hypot(oldX - fixedX, oldY - fixedY),
    after = Math.hypot(x - fixedX, y - fixedY);
  if (before > 0) zoomAt((x + fixedX) / 2, (y + fixedY) / 2, after / before);
  moveBy((x - oldX) / 2, (y - oldY) / 2);
});
for (const name of ["pointerup", "pointercancel"])
  stage.addEventListener(name, (event) => {
    if (!pointers.delete(event.pointerId) || pointers.size) return;
    stage.classList.remove("dragging");
    const path = lasso;
    lasso = null;
    if (name === "pointerup" && travelled < 6)
      clicked(
        pick(...spot(event), event.pointerType === "touch" ? 22 : 12),
        event.shiftKey || event.ctrlKey || event.metaKey,
      );
    else if (name === "pointerup" && path)
      choose(inside(path), { add: event.shiftKey && mode !== "move" });
    redraw();
  });
stage.addEventListener("pointerleave", () => hover(-1));
stage.addEventListener(
  "wheel",
  (event) => {
    event.preventDefault();
    zoomAt(...spot(event), Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)));
  },
  { passive: false },
);
stage.addEventListener("dblclick", (event) => zoomAt(...spot(event), 2));
for (const name of ["focus", "blur"]) stage.addEventListener(name, redraw);

const middle = (factor) => zoomAt(size.width / 2, size.height / 2, factor);
const KEYS = {
  ArrowLeft: () => moveBy(60, 0),
  ArrowRight: () => moveBy(-60, 0),
  ArrowUp: () => moveBy(0, 60),
  ArrowDown: () => moveBy(0, -60),
  "+": () => middle(1.4),
  "=": () => middle(1.4),
  "-": () => middle(1 / 1.4),
  0: fit,
  Escape: () => {
    select(-1);
    choose([]);
  },
  Enter: (event) =>
    clicked(
      pick(size.width / 2, size.height / 2, Math.hypot(size.width, size.height)),
      event.shiftKey,
    ),
};
stage.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key](event);
});
byId("zoom-in").addEventListener("click", () => middle(1.6));
byId("zoom-out").addEventListener("click", () => middle(1 / 1.6));
byId("zoom-fit").addEventListener("click", fit);

function hover(i, x, y) {
  stage.classList.toggle("pointing", i >= 0);
  tip.hidden = i < 0;
  if (i >= 0) {
    const p = chance(i),
      text = [named(now(), i), p === null ? "" : `Probability of a missing class: ${percent(p)}`]
        .filter(Boolean)
        .join(" · ");
    tip.replaceChildren(
      make("strong", { class: "id" }, short(titleOf(i), 80)),
      shortText(i) ?? "",
      text,
    );
    tip.style.left = `${Math.max(4, Math.min(x + 14, size.width - tip.offsetWidth - 6))}px`;
    const isLow = y + 20 + tip.offsetHeight > size.height;
    tip.style.top = `${isLow ? y - tip.offsetHeight - 10 : y + 16}px`;
  }
  if (i !== state.hover) {
    state.hover = i;
    redraw();
  }
}
