// Owns the panel Node: all that is known about one node.
const listed = (rows, kept) => Array.from(rows, (k) => kept.names[k]).join(", ");

function fillNode() {
  const panel = panelOf("node"),
    i = state.selected;
  if (i < 0) {
    fill(
      panel,
      make("p", { class: "soft" }, "Click a node, or search one, to see what is known about it."),
      ...page.notes.map((note) => make("p", { class: "warning" }, note)),
    );
    return;
  }
  const facts = [],
    fact = (name, value) => {
      if (value) facts.push(make("dt", {}, name), make("dd", {}, value));
    };
  if (page.titles) fact("Id", idOf(i));
  fact("Type", typeOf(i));
  fact("Label", describe(values[i]) || "none");
  if (page.truth) fact("True label", listed(truthOf(i), page.truth));
  if (!labelsOf(i).length) fact("Closest labelled class", named(byKey.predicted, i));
  const p = chance(i);
  if (p !== null) fact("Probability of a missing class", make("span", {}, percent(p), bar(p)));
  const group = byKey.group ? category(byKey.group, i) : null;
  if (group && !group.quiet)
    fact(
      "Candidate class",
      make("span", {}, swatch(group), ` ${group.name}${group.caption ? `: ${group.caption}` : ""}`),
    );
  for (const c of page.attributes ?? []) fact(c.name, named(byKey[c.key], i));
  const why = reasons(i);
  fill(
    panel,
    make("h2", { class: "id" }, titleOf(i)),
    wholeText(i),
    staleNote(),
    make("dl", {}, ...facts),
    answerForm([i], "node"),
    ...(why.length
      ? [
          make("h3", {}, "Why"),
          make("ul", { class: "why" }, ...why.map((text) => make("li", {}, text))),
        ]
      : []),
    ...(page.features ? [make("h3", {}, page.features.title), words(i)] : []),
    ...(page.edges ? neighbourhood(i) : []),
    ...(nearOf(i).length
      ? [make("h3", {}, "Nearest in vector space"), neighbourLinks(nearOf(i), 30)]
      : []),
  );
}

/** Neighbours by relation, direction and sign, where edges have these. */
function neighbourhood(i) {
  const near = neighboursOf(i),
    kinds = new Map(),
    title = (text, rows) => make("h3", {}, `${text} (${rows.length.toLocaleString("en")})`);
  const all = near.length
    ? button(
        "Select with its neighbours",
        () => choose([i, ...near].filter(isShown), { from: "neighbours" }),
        { class: "link" },
      )
    : "";
  const edges = page.edges ?? [];
  if (edges.length < 2 && !edges[0].directed && !edges[0].negative)
    return [title("Neighbours", near), all, neighbourLinks(near, 30)];
  for (const [j, r, way, sign] of linksOf(i)) {
    const name = [edges[r].name, { 1: "→", "-1": "←" }[way], sign < 0 ? "−" : "", typeOf(j)]
      .filter(Boolean)
      .join(" ");
    kinds.set(name, [...(kinds.get(name) ?? []), j]);
  }
  return [
    title("Neighbours", near),
    all,
    ...[...kinds].flatMap(([name, rows]) => [
      title(name, rows),
      neighbourLinks(Uint32Array.from(rows), 12),
    ]),
  ];
}

/** The evidence for and against a missing class, the strongest first, then the neighbours. */
function reasons(i) {
  const ranked = [];
  if (page.evidence && ranks) {
    const parts = page.evidence.parts;
    parts.forEach((part, k) => {
      const rank = ranks?.[i * parts.length + k] ?? 255;
      if (rank !== 255) ranked.push([rank / 254, part]);
    });
  }
  ranked.sort((a, b) => Math.abs(b[0] - 0.5) - Math.abs(a[0] - 0.5));
  const sentences = ranked.map(
    ([rank, part]) =>
      `${rank >= 0.5 ? part.strong : part.weak} (more so than for ` +
      `${Math.min(99, Math.floor(100 * Math.max(rank, 1 - rank)))} % of the unlabelled nodes)`,
  );
  const near = [...neighboursOf(i)].filter((j) => j !== i);
  if (page.labels && page.edges && chance(i) !== null) {
    const labelled = near.filter((j) => labelsOf(j).length),
      likely = near.filter((j) => (chance(j) ?? 0) >= 0.5);
    if (!near.length) sentences.push("it has no neighbours");
    else
      sentences.push(
        `of ${count(near.length, "neighbour", "neighbours")}, ${labelled.length || "none"} ` +
          `${labelled.length === 1 ? "has" : "have"} a label and ${likely.length || "none"} ` +
          `probably belong${likely.length === 1 ? "s" : ""} to a missing class`,
      );
  }
  return sentences.map(capitalise);
}

/** The features of a node, the strongest first, at most `most` of them. */
function words(i, most = Infinity) {
  const { names, means } = page.features ?? { names: [], means: null },
    features = featuresOf(i).subarray(0, most),
    values = featureNumbers && featureNumbers(i);
  if (!features.length) return make("p", { class: "soft" }, "none");
  const valueOf = (k, at) =>
    values ? ` ${brief(values[at])}${means ? ` (mean ${brief(means[k])})` : ""}` : "";
  const chips = Array.from(features, (k, at) =>
    make("span", { class: "chip id" }, names[k], make("span", { class: "value" }, valueOf(k, at))),
  );
  const left = featureTotals[i] - features.length;
  return make(
    "div",
    { class: "chips" },
    ...chips,
    left > 0 ? make("span", { class: "soft small" }, `and ${left} more`) : null,
  );
}

function neighbourLinks(near, most) {
  if (!near.length) return make("p", { class: "soft" }, "none");
  const links = make(
    "div",
    { class: "links" },
    ...Array.from(near.subarray(0, most), (j) => link(j)),
  );
  if (near.length > most) {
    const more = Math.min(near.length, most * 10);
    links.append(
      make(
        "button",
        {
          type: "button",
          class: "link",
          onclick: () => {
            links.replaceWith(neighbourLinks(near, more));
          },
        },
        `Show ${more === near.length ? "all" : more}`,
      ),
    );
  }
  return links;
}
