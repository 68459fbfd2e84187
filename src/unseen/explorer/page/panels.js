// Owns the tabs beside the map, the one primary action, and the hints for a first-time user.
const tabs = [];
const featureTotals = page.features && numbers(page.features.total);
const featureNumbers =
  page.features &&
  page.features.numbers &&
  lists(numbers(page.features.counts), numbers(page.features.numbers));
const brief = (value) => String(Number(value.toPrecision(3)));

function addTab(key, name) {
  const button = make(
    "button",
    {
      type: "button",
      role: "tab",
      id: `tab-${key}`,
      "aria-controls": `panel-${key}`,
      onclick: () => openTab(key),
    },
    name,
  );
  const content = make("div", {
    role: "tabpanel",
    id: `panel-${key}`,
    "aria-labelledby": `tab-${key}`,
    tabindex: "0",
  });
  byId("tabs").append(button);
  byId("tabpanels").append(content);
  tabs.push({ key, button, content });
}

function openTab(key) {
  for (const tab of tabs) {
    const open = tab.key === key;
    tab.button.setAttribute("aria-selected", open);
    tab.button.tabIndex = open ? 0 : -1;
    tab.content.hidden = !open;
  }
  markPrimary();
}

/** Emphasise one action: update once all questions are answered, else the step of the panel. */
function markPrimary() {
  for (const element of document.querySelectorAll(".primary")) element.classList.remove("primary");
  const panel = tabs.find((tab) => !tab.content.hidden)?.content;
  const next =
    (isUpdateNext() && byId("update-next")?.closest("[hidden]") === null && byId("update-next")) ||
    (isUpdateNext() && byId("update")) ||
    panel?.querySelector("[data-primary]");
  next?.classList.add("primary");
}

const isUpdateNext = () =>
  server && !current() && answersSince() > 0 && !saved.state?.update?.running;

// Hints are shown until they are dismissed, then never again: browsers keep that for a file by its
// storage, for the app, whose port changes, by a cookie, and for a frame by the notebook.
const HINTS = {
  map:
    "Each point is a node, and similar nodes are close together. Click a point to see what is " +
    "known about it.",
  classes:
    "Each card is a candidate class. Look at its words and typical members, type a name, then " +
    "accept it: its nodes get that label.",
  questions:
    "Read the node and press the number of its class, or n to type a new one. Every answer is " +
    "saved at once.",
};
/** Where the map has no room for a hint, which is then in the panel. */
const narrow = window.matchMedia("(max-width: 820px)");
narrow.addEventListener("change", () => fillPanels());
const dismissed = new Set();
try {
  for (const key of /unseen_hints=([a-z.]*)/.exec(document.cookie)?.[1].split(".") ?? [])
    dismissed.add(key);
  for (const key of (localStorage.getItem("unseen-hints") ?? "").split(".")) dismissed.add(key);
} catch {} // storage is switched off: hints come back with the next page

/**
 * A hint with a button that dismisses it; null where it was dismissed.
 * @param {keyof HINTS} key
 */
function hint(key) {
  if (dismissed.has(key)) return null;
  const dismiss = () => {
    dismissed.add(key);
    const keys = [...dismissed].filter(Boolean).join(".");
    report({ hints: keys });
    try {
      document.cookie = `unseen_hints=${keys}; max-age=315360000; path=/; samesite=strict`;
      localStorage.setItem("unseen-hints", keys);
    } catch {}
    fillPanels();
  };
  return make(
    "div",
    { class: "hint", id: `hint-${key}`, role: "note" },
    make("p", {}, HINTS[key]),
    button("Got it", dismiss, { "aria-label": `Got it: hint about the ${key}` }),
  );
}

/** What is out of date after answers, until the next update; null where nothing is. */
function staleNote() {
  const since = answersSince();
  if (!since || !page.found) return null;
  const text = `Out of date: ${count(since, "answer is", "answers are")} not included yet.`;
  return make(
    "p",
    { class: "stale" },
    text,
    " ",
    server ? null : "Save the labels and run the command again to include them.",
  );
}

byId("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key],
    at = tabs.findIndex((tab) => tab.button === document.activeElement);
  if (!step || at < 0) return;
  const next = tabs[(at + step + tabs.length) % tabs.length];
  openTab(next.key);
  next.button.focus();
});

const panelOf = (key) => tabs.find((tab) => tab.key === key).content;

function fillPanels() {
  fillClasses();
  fillQuestions();
  fillSelection();
  fillLabels();
  fillNode();
  fill(byId("map-hint"), narrow.matches ? null : hint("map"));
  markPrimary();
}
