// Owns the tabs beside the map.
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
  fillNode();
  fillChosen();
  fillFound();
  fillAudit();
  fillSuggestions();
}
