// Owns what acts on the whole page: selecting a node, the colouring, the theme, and the start.
function select(i, { move = false } = {}) {
  state.selected = i;
  fillNode();
  if (i >= 0) {
    openTab("node");
    say(
      `${short(titleOf(i), 100)} selected, ` +
        count(neighboursOf(i).length, "neighbour", "neighbours"),
    );
  }
  if (i >= 0 && move) goTo(i);
  else redraw();
  if (isFramed) shareSelection();
}

function refresh() {
  sorting.order = null;
  paint();
  fillLegend();
  fillTable();
}

function colourBy(key) {
  state.colouring = byKey[key];
  byId("colouring").value = key;
  refresh();
  fillPanels();
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  byId("theme").textContent = name === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", `Use ${name === "dark" ? "light" : "dark"} colours`);
}
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
setTheme(prefersDark.matches ? "dark" : "light");
function changeTheme(name) {
  setTheme(name);
  refresh();
  fillPanels();
}
prefersDark.addEventListener("change", () => changeTheme(prefersDark.matches ? "dark" : "light"));
byId("theme").addEventListener("click", () =>
  changeTheme(themeName() === "dark" ? "light" : "dark"),
);

function showAs(table) {
  byId("table-view").hidden = !table;
  byId("map-view").hidden = table;
  byId("show-table").setAttribute("aria-pressed", table);
  byId("show-map").setAttribute("aria-pressed", !table);
  if (table) fillTable();
  else resize();
}
byId("show-map").addEventListener("click", () => showAs(false));
byId("show-table").addEventListener("click", () => showAs(true));

function fillColourings(key) {
  byId("colouring").replaceChildren(
    ...colourings.map((c) => make("option", { value: c.key }, c.name)),
  );
  state.colouring = byKey[key] ?? colourings[0];
  byId("colouring").value = state.colouring.key;
}
byId("colouring").addEventListener("change", (event) => colourBy(event.target.value));
byId("title").textContent = page.title;
byId("subtitle").textContent = page.subtitle;
addTab("classes", "Classes");
addTab("questions", "Questions");
addTab("selection", "Selection");
addTab("labels", "Labels");
addTab("node", "Node");
fillColourings(page.start);
makeGroups();
fillClassNames();
fillProgress();
fillPanels();
openTab(page.found ? "classes" : page.suggestions ? "questions" : page.audit ? "labels" : "node");
fillLegend();
new ResizeObserver(resize).observe(stage);
resize();
document.documentElement.dataset.renderer = renderer.kind;
if (server && !isFramed) poll();
if (location.hash.startsWith("#rows=")) choose(rowsShared(location.hash.slice(6)));

/** For the console and for tests: where a node is on the screen, and how long drawing takes. */
window.explorer = {
  where(node) {
    const i = page.ids.indexOf(node),
      box = stage.getBoundingClientRect();
    return [box.left + pixelX(px[i]), box.top + pixelY(py[i])];
  },
  drawingTime(times = 5) {
    const start = performance.now();
    for (let k = 0; k < times; k += 1) draw();
    return (performance.now() - start) / times;
  },
  view,
  csv,
  values,
  inside: (path) => inside(path).length,
  names: () => namePlaces(overlay.getContext("2d")),
  selected: () => [...selection].map((i) => page.ids[i]),
  updates: () => saved.findings,
};
document.documentElement.dataset.ready = "yes";
