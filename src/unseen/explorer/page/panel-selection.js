// Owns the panel Selection: the selected nodes as cards, and the form that labels them together.
const CARDS = 30;

/** A node in short: its text, what is known, its probability, words and neighbours. */
function nodeCard(i) {
  const p = chance(i);
  const facts = [
    describe(values[i]),
    p === null ? "" : `Probability of a missing class: ${percent(p)}`,
    labelsOf(i).length ? "" : named(byKey.group, i) || named(byKey.predicted, i),
  ].filter(Boolean);
  const told = page.features
    ? Array.from(featuresOf(i).subarray(0, 6), (k) => page.features?.names[k])
    : [];
  return make(
    "li",
    { class: "card" },
    link(i, null),
    shortText(i),
    make("p", { class: "small soft" }, facts.join(" · ")),
    told.length
      ? make("p", { class: "small" }, make("span", { class: "id" }, told.join(", ")))
      : null,
    nearby(i, 4),
  );
}

/** The first neighbours with their labels; texts without titles have a line each. */
function nearby(i, most) {
  const near = [...neighboursOf(i)],
    more = near.length > most ? ` and ${near.length - most} more` : "";
  if (!near.length) return null;
  const names = near
    .slice(0, most)
    .map((j) => (labelsOf(j).length ? `${titleOf(j)} (${labelsOf(j).join(", ")})` : titleOf(j)));
  if (!page.texts || page.titles)
    return make(
      "p",
      { class: "small soft" },
      "Neighbours: ",
      make("span", { class: "id" }, names.join(", ")),
      more,
    );
  const lines = names.map((name, k) =>
    make("li", {}, make("span", { class: "id" }, name), shortText(near[k])),
  );
  return make(
    "div",
    { class: "small soft" },
    "Neighbours",
    make("ul", { class: "nearby" }, ...lines),
    more,
  );
}

/** @param {Value} value */
const describe = ([labels, status]) =>
  labels.length
    ? `${labels.join(", ")}${status ? ` (${status})` : ""}`
    : ({ skipped: "skipped", unknown: "class unknown" }[status] ?? "");

function fillSelection() {
  const panel = panelOf("selection"),
    rows = [...selection];
  tabs.find((tab) => tab.key === "selection").button.textContent = rows.length
    ? `Selection (${rows.length.toLocaleString("en")})`
    : "Selection";
  if (!rows.length) {
    fill(
      panel,
      make(
        "p",
        { class: "soft" },
        "Select nodes to label them together: draw a lasso or a box on the map, click nodes with " +
          "shift, or tick rows of the table.",
      ),
    );
    return;
  }
  const order =
    probability === null ? rows : rows.sort((a, b) => (chance(b) ?? -1) - (chance(a) ?? -1));
  fill(
    panel,
    make(
      "h2",
      { class: "lead", id: "selection-count" },
      `${count(rows.length, "node", "nodes")} selected`,
    ),
    answerForm(rows, "selection"),
    make(
      "div",
      { class: "links" },
      button("Clear selection", () => choose([]), { class: "link" }),
      hasAddress
        ? button("Copy the address", copyAddress, { class: "link", id: "copy-address" })
        : null,
      button(
        "Save as CSV",
        () => download("selected-nodes.csv", csv([["node"], ...rows.map((i) => [page.ids[i]])])),
        { class: "link" },
      ),
    ),
    make("ul", {}, ...order.slice(0, CARDS).map(nodeCard)),
    rows.length > CARDS
      ? make("p", { class: "soft small" }, `and ${(rows.length - CARDS).toLocaleString("en")} more`)
      : null,
  );
}
