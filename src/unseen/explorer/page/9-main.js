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
let lowered = null, hits = [], active = -1;

function search() {
  const query = field.value.trim().toLowerCase();
  lowered ??= page.ids.map((text) => text.toLowerCase());
  hits = [];
  if (query) {
    const inside = [];
    for (let i = 0; i < n && hits.length < 12; i += 1) {
      const at = lowered[i].indexOf(query);
      if (lowered[i] === query) hits.unshift(i);
      else if (at === 0) hits.push(i);
      else if (at > 0 && inside.length < 12) inside.push(i);
    }
    // An exact hit may come after twelve that only begin alike.
    const exact = lowered.indexOf(query);
    if (exact >= 0 && !hits.includes(exact)) hits.unshift(exact);
    hits = [...hits, ...inside].slice(0, 12);
    say(hits.length ? count(hits.length, "node found", "nodes found") : "No node has this in its id");
  }
  active = hits.length ? 0 : -1;
  showMatches();
}

function showMatches() {
  const open = hits.length > 0;
  matches.hidden = !open;
  field.setAttribute("aria-expanded", open);
  matches.replaceChildren(...hits.map((i, k) => make("li", { role: "option", id: `match-${k}`, class: "id", "aria-selected": String(k === active), onpointerdown: (event) => { event.preventDefault(); goToHit(k); } }, short(idOf(i), 120))));
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

/** All nodes whose id has the text of the search. */
function selectMatches() {
  const query = field.value.trim().toLowerCase();
  lowered ??= page.ids.map((text) => text.toLowerCase());
  if (query) choose(lowered.flatMap((text, i) => (text.includes(query) && isShown(i) ? [i] : [])), { from: "search" });
}
byId("select-matches").addEventListener("click", selectMatches);
field.addEventListener("input", search);
field.addEventListener("blur", () => { hits = []; showMatches(); });
field.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && hits.length) { event.preventDefault(); active = (active + step + hits.length) % hits.length; showMatches(); }
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
