// Owns the line above the map: how much is labelled, how much is missing, update and undo.
/** How many answers the findings do not know yet. */
function answersSince() {
  const { state } = saved;
  if (!server) return saved.own.length;
  if (!state || state.revision === (page.revision ?? 0)) return 0;
  // an answer from before the update that was undone since is a change, too
  return Math.abs(saved.undo - (page.answers ?? server.answers)) || 1;
}

/** What is missing, in the words of the line above the map and of the panel Classes. */
function missingFacts() {
  if (!page.found) return [];
  const expected = Math.round(page.audit?.expected_unseen ?? 0),
    best = page.found.count?.best ?? 0;
  if (page.found.failed) return ["the number of missing classes cannot be estimated"];
  if (best === 0) return ["no missing class was found"];
  return [
    `about ${count(expected, "node belongs", "nodes belong")} to missing classes`,
    count(best, "candidate class", "candidate classes"),
  ];
}

/** How many nodes have a label, with all answers; of a sample only the server knows that. */
function labelCounts() {
  const { state } = saved,
    total = state?.nodes ?? page.audit?.n_nodes ?? n;
  if (state?.labelled !== undefined) return { total, labelled: state.labelled };
  if (page.audit && total > n) return { total, labelled: page.audit.n_labelled };
  return { total, labelled: values.filter(([labels]) => labels.length).length };
}

/**
 * How many labels each class has, with all answers.
 * @returns {[string, number][]}
 */
function classCounts() {
  if (saved.state?.classes) return Object.entries(saved.state.classes);
  if (page.audit && page.audit.n_nodes > n) return page.audit.classes;
  const counts = new Map();
  for (const [labels] of values)
    for (const name of labels) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => collator.compare(a, b));
}

function fillProgress() {
  const { state } = saved,
    { labelled, total } = labelCounts(),
    since = answersSince();
  const facts = [
    `${labelled.toLocaleString("en")} of ${count(total, "node", "nodes")} labelled`,
    ...missingFacts(),
    ...(since ? [`${count(since, "answer", "answers")} since the last update`] : []),
  ];
  const update = state?.update,
    busy = !!update?.running;
  const shown = JSON.stringify([
    facts,
    update,
    state?.outside,
    state?.problem,
    saved.undo,
    changed.size,
  ]);
  // a button that is replaced while it is pressed would not be clicked
  if (shown === saved.shown) return;
  saved.shown = shown;
  const bar = make("progress", {
    "aria-label": "Update",
    max: String(update?.total || 1),
    value: busy && update.total ? String(update.done) : null,
    hidden: !busy,
  });
  fill(
    byId("progress"),
    make("p", { id: "facts" }, facts.join(" · ")),
    ...problems(update?.error, state),
    make(
      "div",
      { class: "tools" },
      server
        ? updateButton("update", busy)
        : button("Download labels.csv", downloadLabels, { id: "save-labels" }),
      button("Undo", undo, { id: "undo", disabled: !saved.undo }),
      bar,
      changed.size
        ? button(
            `Select the ${changed.size.toLocaleString("en")} that changed`,
            () => {
              choose([...changed]);
              changed = new Set();
              fillProgress();
            },
            { id: "changed" },
          )
        : null,
    ),
  );
  markPrimary();
}

const updateButton = (id, busy = !!saved.state?.update?.running) =>
  button(busy ? "Updating…" : "Update", () => send("update", {}), { id, disabled: busy });

/** Sentences about what went wrong, where the reader has to decide or to know. */
function problems(error, state) {
  const parts = error ? [make("p", { class: "warning" }, error)] : [];
  const choices = [
    ["both", "Merge both"],
    ["file", "Use the file"],
    ["app", "Keep my answers"],
  ];
  if (state?.outside)
    parts.push(
      make(
        "div",
        { class: "warning", id: "outside" },
        `${server?.file} was changed by another program. `,
        ...choices.map(([take, text]) =>
          button(text, () => send("outside", { take }), { class: "link" }),
        ),
      ),
    );
  if (state?.problem)
    parts.push(
      make(
        "p",
        { class: "warning" },
        `Your answers are saved in ${server?.file}.journal, but not yet in ` +
          `${server?.file}: ${state.problem}`,
      ),
    );
  return parts;
}
