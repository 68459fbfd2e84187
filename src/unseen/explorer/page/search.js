// Owns the search field: a list that opens under it, by the keys of the combobox pattern.
const field = byId("search"),
  matches = byId("matches");
const MOST_HITS = 12;
let lowered = null,
  hits = [],
  active = -1;
const wanted = () => field.value.trim().toLowerCase();

/** Where a query is: 0 it is the title, 1 begins it, 2 in it, 3 in id or text, 4 nowhere. */
function rank(i, query) {
  lowered ??= {
    names: (page.titles ?? page.ids).map((name) => name.toLowerCase()),
    ids: page.ids.map((id) => id.toLowerCase()),
    texts: page.texts?.map((text) => text.toLowerCase()),
  };
  const name = lowered.names[i],
    at = name.indexOf(query);
  if (lowered.ids[i] === query || name === query) return 0;
  if (at >= 0) return at === 0 ? 1 : 2;
  return lowered.ids[i].includes(query) || lowered.texts?.[i].includes(query) ? 3 : 4;
}

function search() {
  const query = wanted(),
    ranked = [[], [], [], [], []];
  if (query)
    for (let i = 0; i < n; i += 1) {
      const of = ranked[rank(i, query)];
      if (of.length < MOST_HITS) of.push(i);
    }
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
    const at = lowered.texts?.[i].indexOf(query) ?? 0,
      onpointerdown = (event) => {
        event.preventDefault();
        goToHit(k);
      };
    return make(
      "li",
      { role: "option", id: `match-${k}`, "aria-selected": String(k === active), onpointerdown },
      make("span", { class: "id" }, short(titleOf(i), 120)),
      shortText(i, at > 40 ? at - 20 : 0),
    );
  };
  const nothing = make(
    "li",
    { role: "option", "aria-disabled": "true", class: "id" },
    nothingFound(),
  );
  matches.replaceChildren(...hits.map(item), ...(open || !query ? [] : [nothing]));
  if (open) field.setAttribute("aria-activedescendant", `match-${active}`);
  else field.removeAttribute("aria-activedescendant");
}

function goToHit(k) {
  const i = hits[k];
  field.value = page.ids[i];
  hits = [];
  showMatches();
  if (!isShown(i)) {
    now().hidden.delete(now().codes[i]);
    if (typeCodes) typesShown.add(typeCodes[i]);
    refresh();
  }
  select(i, { move: true });
}

/** Select all nodes whose id or text contains the query. */
function selectMatches() {
  const query = wanted();
  if (query)
    choose(
      [...Array(n).keys()].filter((i) => rank(i, query) < 4 && isShown(i)),
      { from: "search" },
    );
}
byId("select-matches").addEventListener("click", selectMatches);
field.addEventListener("input", search);
field.addEventListener("blur", () => {
  hits = [];
  showMatches();
});
field.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && hits.length) {
    event.preventDefault();
    active = (active + step + hits.length) % hits.length;
    showMatches(wanted());
  } else if (event.key === "Enter" && active >= 0 && hits.length) {
    event.preventDefault();
    goToHit(active);
  } else if (event.key === "Escape") {
    hits = [];
    showMatches();
  }
});
