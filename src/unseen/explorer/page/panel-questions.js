// Owns the panel Questions: one question after another, answered by keys. Suspicious labels are a
// queue too.
let at = 0,
  doubts = null;

const queue = () => doubts ?? page.suggestions ?? [];
const isOpen = (row) =>
  row.row === null ||
  (doubts ? statusOf(row.row) !== "confirmed" : !labelsOf(row.row).length && !statusOf(row.row));

/** The next question that has no answer yet. */
function current() {
  const rows = queue();
  while (at < rows.length && !isOpen(rows[at])) at += 1;
  return rows[at] ?? null;
}

/** Go on to the question after `asked`, unless its answer has led there already. */
function advance(asked) {
  if (queue()[at] === asked) at += 1;
  fillQuestions();
  const row = current();
  if (row && row.row !== null && !panelOf("questions").hidden) showQuestion(row.row);
}

function showQuestion(i) {
  state.selected = i;
  fillNode();
  if (isShown(i) && !byId("map-view").hidden) goTo(i);
  else redraw();
}

function fillQuestions() {
  const row = current(),
    rows = queue(),
    left = rows.slice(at).filter(isOpen).length;
  const parts = [hint("questions")];
  if (row)
    parts.push(
      make(
        "h2",
        { class: "lead" },
        `${doubts ? "Suspicious labels" : "Questions"}: ${left.toLocaleString("en")} left`,
      ),
      ...question(row),
      make(
        "p",
        { class: "small soft", id: "keys" },
        "Keys: 1 to 9 a class, n a new class, u unknown, s skip, backspace undo.",
      ),
    );
  else parts.push(...emptyQueue(rows.length));
  const links = [];
  if (doubts) links.push(button("Back to the questions", closeDoubts, { class: "link" }));
  if (page.suggestions?.length)
    links.push(
      button("Save as CSV", exportSuggestions, {
        id: "export",
        class: "link",
        title: "Ids are written unchanged, also those that a spreadsheet would take for a formula",
      }),
    );
  parts.push(make("div", { class: "links" }, ...links));
  const later = rows.slice(at + 1).filter(isOpen);
  parts.push(
    make(
      "ul",
      {},
      ...later
        .slice(0, CARDS)
        .map((other) =>
          make(
            "li",
            { class: "card" },
            other.row === null ? make("span", { class: "id" }, other.node) : link(other.row),
            make("p", { class: "small soft" }, reasonOf(other)),
          ),
        ),
    ),
  );
  fill(panelOf("questions"), ...parts);
  markPrimary();
}

/** What to do where no question is left: update, or save the labels. */
function emptyQueue(asked) {
  const lead = asked ? "All questions are answered." : "There are no questions.";
  const next = server
    ? "An update includes your answers and finds the next questions."
    : "Download the labels to keep your answers.";
  return [
    make("h2", { class: "lead" }, lead),
    make("p", {}, next),
    make("div", { class: "answers" }, server ? updateButton("update-next") : null),
  ];
}

function closeDoubts() {
  doubts = null;
  at = 0;
  fillQuestions();
}

const RANDOM = "A random node: answers to these tell when you may stop.";
const reasonOf = (row) =>
  (row.drawn === "random" && RANDOM) ||
  capitalise(row.reason ?? "") ||
  `Labelled ${row.label}, but ${row.likely_class} fits better (${percent(row.probability)})`;

/** The card of a question: the whole text first, then what matters, then neighbours by title. */
function question(row) {
  if (row.row === null)
    return [
      make("p", { class: "id" }, row.node),
      make("p", { class: "small" }, reasonOf(row)),
      make("p", { class: "warning" }, "This node is not on the map; label it in the file."),
    ];
  const i = row.row,
    p = chance(i);
  const facts = [
    p === null ? "" : `Probability of a missing class: ${percent(p)}`,
    row.likely_class && !doubts ? `Closest labelled class: ${row.likely_class}` : "",
  ].filter(Boolean);
  return [
    make(
      "article",
      { class: "card question" },
      wholeText(i),
      make("h3", {}, link(i, null)),
      page.features ? words(i, 3) : null,
      nearby(i, 6),
      make("p", { class: "small", id: "reason" }, reasonOf(row)),
      facts.length ? make("p", { class: "small soft" }, facts.join(" · ")) : null,
      answerForm([i], "questions"),
    ),
  ];
}

function exportSuggestions() {
  const header = [
    "node",
    "label",
    "replaces",
    "status",
    "drawn",
    "pool",
    "reason",
    "likely_class",
    "unseen_probability",
    "group",
  ];
  const rows = (page.suggestions ?? []).map((row) => [
    row.node,
    "",
    row.replaces,
    "",
    row.drawn,
    row.pool,
    row.reason,
    row.likely_class,
    (row.unseen_probability ?? 0).toFixed(4),
    row.group,
  ]);
  // The mark at the start tells spreadsheets that the text is UTF-8.
  download("suggested-nodes.csv", `\ufeff${csv([header, ...rows], [6, 7, 9])}`);
  say(`${rows.length} nodes saved as suggested-nodes.csv`);
}

function openDoubts() {
  doubts = page.doubts;
  at = 0;
  openTab("questions");
  fillQuestions();
  panelOf("questions").focus();
}

// Keys answer the question, or label what is selected, wherever the focus is but in a field.
document.addEventListener("keydown", (event) => {
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    /** @type {Element} */ (event.target).closest("input, select, textarea, [contenteditable]")
  )
    return;
  if (event.key === "Backspace") {
    event.preventDefault();
    undo();
    return;
  }
  const where = ["questions", "selection"].find((key) => !panelOf(key).hidden);
  if (!where) return;
  if (event.key === "n") {
    const input = byId(`${where}-class`);
    if (input) {
      event.preventDefault();
      input.focus();
    }
    return;
  }
  const target = panelOf(where).querySelector(`[data-key="${where}-${CSS.escape(event.key)}"]`);
  if (target && /^[1-9usc]$/.test(event.key)) {
    event.preventDefault();
    target.click();
  }
});
