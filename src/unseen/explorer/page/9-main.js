// Everything that acts on the whole page: legend, search, theme, selection.
function select(i, { move = false } = {}) {
  state.selected = i;
  fillNode();
  if (i >= 0) {
    openTab("node");
    say(`${short(idOf(i), 100)} selected, ${count(neighboursOf(i).length, "neighbour", "neighbours")}`);
  }
  if (i >= 0 && move) goTo(i);
  else redraw();
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

function fillLegend() {
  const colouring = now(), legend = byId("legend"), focused = document.activeElement && document.activeElement.dataset.code;
  const all = (off) => { colouring.hidden = new Set(off ? colouring.categories.keys() : []); refresh(); };
  const items = colouring.categories.map((of, code) => [of, code]).filter(([, code]) => colouring.counts[code]).sort(([a], [b]) => !!b.caption - !!a.caption);
  legend.replaceChildren(...items.map(([of, code]) => make("button", {
    type: "button", "aria-pressed": String(!colouring.hidden.has(code)), "data-code": String(code),
    onclick: () => { if (!colouring.hidden.delete(code)) colouring.hidden.add(code); refresh(); },
  }, swatch(of), make("span", { class: "id" }, short(of.caption ? `${of.name}: ${of.caption}` : of.name, 60)), make("span", { class: "count" }, colouring.counts[code].toLocaleString("en")))));
  legend.prepend(...typeButtons(), make("button", { type: "button", "data-code": "all", onclick: () => all(false) }, "All"), make("button", { type: "button", "data-code": "none", onclick: () => all(true) }, "None"));
  if (focused !== undefined && focused !== null) { const again = [...legend.children].find((item) => item.dataset.code === focused); if (again) again.focus(); }
}

/** A switch for each type of nodes. */
function typeButtons() {
  if (!page.types) return [];
  const counts = page.types.names.map(() => 0);
  for (const code of typeCodes) counts[code] += 1;
  return page.types.names.map((name, code) => make("button", { type: "button", class: "type", "aria-pressed": String(typesShown.has(code)), "data-code": `type-${code}`, onclick: () => { if (!typesShown.delete(code)) typesShown.add(code); refresh(); } },
    make("span", { class: "id" }, name), make("span", { class: "count" }, counts[code].toLocaleString("en"))));
}

// Search: a list that opens under the field, by the keys of the combobox pattern.
const field = byId("search"), matches = byId("matches");
const MOST_HITS = 12;
let lowered = null, hits = [], active = -1;
if (page.texts) field.placeholder = "Find id or text";
const wanted = () => field.value.trim().toLowerCase();

/** How well a node fits a search: 0 its id is the query, 1 begins with it, 2 contains it, 3 its text contains it, 4 not at all. */
function rank(i, query) {
  lowered ??= { ids: page.ids.map((id) => id.toLowerCase()), texts: page.texts?.map((text) => text.toLowerCase()) };
  const id = lowered.ids[i], at = id.indexOf(query);
  if (at >= 0) return id === query ? 0 : at === 0 ? 1 : 2;
  return lowered.texts?.[i].includes(query) ? 3 : 4;
}

function search() {
  const query = wanted(), ranked = [[], [], [], [], []];
  if (query) for (let i = 0; i < n; i += 1) { const of = ranked[rank(i, query)]; if (of.length < MOST_HITS) of.push(i); }
  hits = ranked.slice(0, 4).flat().slice(0, MOST_HITS);
  active = hits.length ? 0 : -1;
  showMatches(query);
  if (query) say(hits.length ? count(hits.length, "node found", "nodes found") : nothingFound());
}

const nothingFound = () => `nothing found for '${short(field.value.trim(), 60)}'`;

/** Show the hits, or that a query has none. */
function showMatches(query = "") {
  const open = hits.length > 0;
  matches.hidden = !open && !query;
  field.setAttribute("aria-expanded", !matches.hidden);
  const item = (i, k) => {
    const at = lowered.texts?.[i].indexOf(query) ?? 0, onpointerdown = (event) => { event.preventDefault(); goToHit(k); };
    return make("li", { role: "option", id: `match-${k}`, "aria-selected": String(k === active), onpointerdown },
      make("span", { class: "id" }, short(idOf(i), 120)), shortText(i, at > 40 ? at - 20 : 0));
  };
  const nothing = make("li", { role: "option", "aria-disabled": "true", class: "id" }, nothingFound());
  matches.replaceChildren(...hits.map(item), ...(open || !query ? [] : [nothing]));
  if (open) field.setAttribute("aria-activedescendant", `match-${active}`);
  else field.removeAttribute("aria-activedescendant");
}

function goToHit(k) {
  const i = hits[k];
  field.value = page.ids[i];
  hits = [];
  showMatches();
  if (!isShown(i)) { now().hidden.delete(now().codes[i]); if (typeCodes) typesShown.add(typeCodes[i]); refresh(); }
  select(i, { move: true });
}

/** Select all nodes whose id or text contains the query. */
function selectMatches() {
  const query = wanted();
  if (query) choose([...Array(n).keys()].filter((i) => rank(i, query) < 4 && isShown(i)), { from: "search" });
}
byId("select-matches").addEventListener("click", selectMatches);
field.addEventListener("input", search);
field.addEventListener("blur", () => { hits = []; showMatches(); });
field.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && hits.length) { event.preventDefault(); active = (active + step + hits.length) % hits.length; showMatches(wanted()); }
  else if (event.key === "Enter" && active >= 0 && hits.length) { event.preventDefault(); goToHit(active); }
  else if (event.key === "Escape") { hits = []; showMatches(); }
});

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  byId("theme").textContent = name === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", `Use ${name === "dark" ? "light" : "dark"} colours`);
}
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
setTheme(prefersDark.matches ? "dark" : "light");
prefersDark.addEventListener("change", () => { setTheme(prefersDark.matches ? "dark" : "light"); refresh(); fillPanels(); });
byId("theme").addEventListener("click", () => { setTheme(themeName() === "dark" ? "light" : "dark"); refresh(); fillPanels(); });

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
  byId("colouring").replaceChildren(...colourings.map((c) => make("option", { value: c.key }, c.name)));
  state.colouring = byKey[key] ?? colourings[0];
  byId("colouring").value = state.colouring.key;
}
byId("colouring").addEventListener("change", (event) => colourBy(event.target.value));
byId("subtitle").textContent = page.subtitle;
addTab("node", "Node");
addTab("chosen", "Selected");
addTab("found", "New classes");
addTab("labels", "Labels");
addTab("next", "Label next");
fillColourings(page.start);
makeGroups();
fillClasses();
fillProgress();
fillPanels();
openTab(page.found ? "found" : page.audit ? "labels" : page.suggestions ? "next" : "node");
fillLegend();
new ResizeObserver(resize).observe(stage);
resize();
document.documentElement.dataset.renderer = renderer.kind;
if (server) poll();
if (location.hash.startsWith("#rows=")) choose(rowsShared(location.hash.slice(6)));

/** For the console and for tests: where a node is on the screen, and how long drawing takes. */
window.explorer = {
  where(node) { const i = page.ids.indexOf(node), box = stage.getBoundingClientRect(); return [box.left + screenX(px[i]), box.top + screenY(py[i])]; },
  drawingTime(times = 5) { const start = performance.now(); for (let k = 0; k < times; k += 1) draw(); return (performance.now() - start) / times; },
  view, csv, values, inside: (path) => inside(path).length, names: () => namePlaces(overlay.getContext("2d")), selected: () => [...selection].map((i) => page.ids[i]),
};
document.documentElement.dataset.ready = "yes";
