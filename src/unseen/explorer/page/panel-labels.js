// Owns the panel Labels: what the labels cover, how far to trust the findings, suspicious labels.
function fillLabels() {
  if (!page.audit) {
    fill(panelOf("labels"), make("p", { class: "soft" }, "There are no labels yet."));
    return;
  }
  const { audit, selfTest } = page,
    panel = panelOf("labels"),
    { labelled, total } = labelCounts(),
    classes = classCounts(),
    share = total ? labelled / total : 0;
  const parts = [
    staleNote(),
    make(
      "h2",
      { class: "lead" },
      `${labelled.toLocaleString("en")} of ${count(total, "node has", "nodes have")} a label ` +
        `(${percent(share)}), in ${count(classes.length, "class", "classes")}.`,
    ),
    bar(share),
  ];
  const missing = missingFacts().join(", ");
  if (missing) parts.push(make("p", { class: "small" }, `${capitalise(missing)}.`));
  const certificate = saved.state?.certificate ?? page.certificate;
  if (certificate)
    parts.push(
      make("h3", {}, "When to stop"),
      make("p", { id: "certificate" }, `${certificate.sentence}.`),
    );
  parts.push(...audit.warnings.map((text) => make("p", { class: "warning" }, text)));
  parts.push(
    tableOf(
      "Labelled classes",
      ["Class", "Labels", "Share"],
      classes.map(([name, labels]) => [
        make("span", { class: "id" }, name),
        labels.toLocaleString("en"),
        percent(labelled ? labels / labelled : 0),
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
          "Each labelled class left out in turn (AUROC: 1 is perfect, 0.5 is chance)",
          ["Class left out", "Labels", "AUROC"],
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
      make("h3", {}, "Suspicious labels"),
      make(
        "p",
        { class: "small" },
        `${count(page.doubts.length, "label is", "labels are")} probably wrong.`,
      ),
      button("Go through them", openDoubts, { class: "link", id: "doubts" }),
    );
  fill(panel, ...parts);
}
