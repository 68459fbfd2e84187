// Owns the panel Labels: what the labels cover, how far to trust the findings, suspicious labels.
function fillAudit() {
  if (!page.audit) {
    fill(panelOf("labels"), make("p", { class: "soft" }, "There are no labels yet."));
    return;
  }
  const { audit, selfTest } = page,
    panel = panelOf("labels"),
    share = audit.n_nodes ? audit.n_labelled / audit.n_nodes : 0;
  const parts = [
    make(
      "h2",
      { class: "lead" },
      `${audit.n_labelled.toLocaleString("en")} of ` +
        `${count(audit.n_nodes, "node has", "nodes have")} a label (${percent(share)}), ` +
        `in ${count(audit.classes.length, "class", "classes")}.`,
    ),
    bar(share),
  ];
  if (audit.expected_unseen !== null)
    parts.push(
      make(
        "p",
        { class: "small" },
        `About ${count(Math.round(audit.expected_unseen), "node belongs", "nodes belong")} ` +
          "to missing classes.",
      ),
    );
  parts.push(...audit.warnings.map((text) => make("p", { class: "warning" }, text)));
  parts.push(
    tableOf(
      "Labelled classes",
      ["Class", "Labels", "Share"],
      audit.classes.map(([name, labels]) => [
        make("span", { class: "id" }, name),
        labels.toLocaleString("en"),
        percent(audit.n_labelled ? labels / audit.n_labelled : 0),
      ]),
      [1, 2],
    ),
  );
  if (audit.homophily !== null)
    parts.push(
      make(
        "p",
        { class: "small soft" },
        `${percent(audit.homophily)} of the edges between labelled nodes join the same class` +
          (audit.expected_homophily === null
            ? "."
            : `; by chance it would be ${percent(audit.expected_homophily)}.`),
      ),
    );
  if (selfTest) {
    parts.push(make("h3", {}, "How far to trust it"), make("p", {}, selfTest.verdict));
    const tested = selfTest.classes.filter((c) => c.auroc !== null);
    if (tested.length)
      parts.push(
        tableOf(
          "Each labelled class hidden in turn (AUROC: 1 is perfect, 0.5 is chance)",
          ["Hidden class", "Labels", "AUROC"],
          tested.map((c) => [
            make("span", { class: "id" }, c.name),
            c.n_labels,
            c.auroc?.toFixed(2),
          ]),
          [1, 2],
        ),
      );
  }
  if (page.doubts?.length)
    parts.push(
      make("h3", {}, "Doubtful labels"),
      make(
        "p",
        { class: "small" },
        `${count(page.doubts.length, "label is", "labels are")} probably wrong.`,
      ),
      button("Go through them", openDoubts, { class: "link", id: "doubts" }),
    );
  fill(panel, ...parts);
}
