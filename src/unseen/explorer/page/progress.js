// Owns the line above the map: how much is labelled, how much is missing, update and undo.
/** How far it is, at a glance. */
function fillProgress() {
  const { state } = saved,
    labelled = state?.labelled ?? values.filter(([labels]) => labels.length).length,
    total = state?.nodes ?? page.audit?.n_nodes ?? n;
  const expected = page.audit?.expected_unseen ?? null,
    best = page.found?.count?.best ?? 0,
    facts = [];
  facts.push(`${labelled.toLocaleString("en")} of ${total.toLocaleString("en")} labelled`);
  if (page.found?.failed) facts.push("what is missing cannot be said");
  else if (expected !== null)
    facts.push(
      best === 0 && expected < 0.01 * total
        ? "nothing is missing any more"
        : `about ${Math.round(expected).toLocaleString("en")} of missing classes`,
      `${count(best, "new class", "new classes")} found`,
    );
  facts.push(`${count(saved.undo, "answer", "answers")} given`);
  const update = state?.update,
    busy = !!update?.running,
    since = state ? state.revision - (page.revision ?? 0) : 0;
  const shown = JSON.stringify([
    facts,
    update,
    since,
    state?.outside,
    state?.problem,
    saved.undo,
    changed.size,
    page.selfTest?.verdict,
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
  const outside = state?.outside
    ? make(
        "div",
        { class: "warning", id: "outside" },
        `${server?.file} was changed by another program. `,
        ...[
          ["both", "Merge both"],
          ["file", "Use the file"],
          ["app", "Keep my answers"],
        ].map(([take, text]) => button(text, () => send("outside", { take }), { class: "link" })),
      )
    : null;
  fill(
    byId("progress"),
    make("p", { id: "facts" }, facts.join(" · ")),
    page.selfTest ? make("p", { class: "small soft", id: "trust" }, page.selfTest.verdict) : null,
    update?.error ? make("p", { class: "warning" }, update.error) : null,
    outside,
    state?.problem
      ? make(
          "p",
          { class: "warning" },
          `Your answers are saved in ${server?.file}.journal, but not yet in ` +
            `${server?.file}: ${state.problem}`,
        )
      : null,
    make(
      "div",
      { class: "tools" },
      server
        ? button(
            busy
              ? "Updating…"
              : since
                ? `Update (${count(since, "answer", "answers")} since)`
                : "Update",
            () => send("update", {}),
            { id: "update", disabled: busy },
          )
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
}
