// The panel beside the map: a node, the found classes, the labels, what to label next.
const tabs = [];
const featureTotals = page.features && numbers(page.features.total);
const featureNumbers = page.features && page.features.numbers && lists(numbers(page.features.counts), numbers(page.features.numbers));
const brief = (value) => String(Number(value.toPrecision(3)));

function addTab(key, name) {
  const button = make("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": `panel-${key}`, onclick: () => openTab(key) }, name);
  const content = make("div", { role: "tabpanel", id: `panel-${key}`, "aria-labelledby": `tab-${key}`, tabindex: "0" });
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
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], at = tabs.findIndex((tab) => tab.button === document.activeElement);
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

const listed = (rows, kept) => Array.from(rows, (k) => kept.names[k]).join(", ");

function fillNode() {
  const panel = panelOf("node"), i = state.selected;
  if (i < 0) {
    fill(panel, make("p", { class: "soft" }, "Click a node, or search one, to see what is known about it."),
      ...page.notes.map((note) => make("p", { class: "warning" }, note)));
    return;
  }
  const facts = [], fact = (name, value) => { if (value) facts.push(make("dt", {}, name), make("dd", {}, value)); };
  fact("Type", typeOf(i));
  fact("Label", describe(values[i]) || "none");
  if (page.truth) fact("True label", listed(truthOf(i), page.truth));
  if (!labelsOf(i).length) fact("If of a labelled class", named(byKey.predicted, i));
  const p = chance(i);
  if (p !== null) fact("In a hidden class", make("span", {}, percent(p), bar(p)));
  const group = byKey.group ? category(byKey.group, i) : null;
  if (group && !group.quiet) fact("Group", make("span", {}, swatch(group), ` ${group.name}${group.caption ? `: ${group.caption}` : ""}`));
  for (const c of page.attributes ?? []) fact(c.name, named(byKey[c.key], i));
  const why = reasons(i);
  fill(panel, make("h2", { class: "id" }, idOf(i)), wholeText(i), make("dl", {}, ...facts), answerForm([i], "node"),
    ...(why.length ? [make("h3", {}, "Why"), make("ul", { class: "why" }, ...why.map((text) => make("li", {}, text)))] : []),
    ...(page.features ? [make("h3", {}, page.features.title), words(i)] : []),
    ...(page.edges ? neighbourhood(i) : []),
    ...(nearOf(i).length ? [make("h3", {}, "Nearest in vector space"), neighbourLinks(nearOf(i), 30)] : []));
}

/** Neighbours by relation, direction and sign, where edges have these. */
function neighbourhood(i) {
  const near = neighboursOf(i), kinds = new Map(), title = (text, rows) => make("h3", {}, `${text} (${rows.length.toLocaleString("en")})`);
  const all = near.length ? button("Select with its neighbours", () => choose([i, ...near].filter(isShown), { from: "neighbours" }), { class: "link" }) : "";
  if (page.edges.length < 2 && !page.edges[0].directed && !page.edges[0].negative) return [title("Neighbours", near), all, neighbourLinks(near, 30)];
  for (const [j, r, way, sign] of linksOf(i)) {
    const name = [page.edges[r].name, { 1: "→", "-1": "←" }[way], sign < 0 ? "−" : "", typeOf(j)].filter(Boolean).join(" ");
    kinds.set(name, [...(kinds.get(name) ?? []), j]);
  }
  return [title("Neighbours", near), all, ...[...kinds].flatMap(([name, rows]) => [title(name, rows), neighbourLinks(Uint32Array.from(rows), 12)])];
}

/** What speaks for and against a hidden class, the strongest first, then what the neighbours are. */
function reasons(i) {
  const ranked = [];
  if (page.evidence) {
    const parts = page.evidence.parts;
    parts.forEach((part, k) => { const rank = ranks[i * parts.length + k]; if (rank !== 255) ranked.push([rank / 254, part]); });
  }
  ranked.sort((a, b) => Math.abs(b[0] - 0.5) - Math.abs(a[0] - 0.5));
  const sentences = ranked.map(([rank, part]) => `${rank >= 0.5 ? part.strong : part.weak} (more so than for ${Math.min(99, Math.floor(100 * Math.max(rank, 1 - rank)))} % of the unlabelled nodes)`);
  const near = [...neighboursOf(i)].filter((j) => j !== i);
  if (page.labels && page.edges && chance(i) !== null) {
    const labelled = near.filter((j) => labelsOf(j).length), likely = near.filter((j) => (chance(j) ?? 0) >= 0.5);
    if (!near.length) sentences.push("it has no neighbours");
    else sentences.push(`of ${count(near.length, "neighbour", "neighbours")}, ${labelled.length || "none"} ${labelled.length === 1 ? "has" : "have"} a label and ${likely.length || "none"} probably belong${likely.length === 1 ? "s" : ""} to a hidden class`);
  }
  return sentences.map((text) => text[0].toUpperCase() + text.slice(1));
}

function words(i) {
  const { names, means } = page.features, features = featuresOf(i), values = page.features.numbers === null ? null : featureNumbers(i);
  if (!features.length) return make("p", { class: "soft" }, "none");
  const valueOf = (k, at) => (values ? ` ${brief(values[at])}${means ? ` (mean ${brief(means[k])})` : ""}` : "");
  const chips = Array.from(features, (k, at) => make("span", { class: "chip id" }, names[k], make("span", { class: "value" }, valueOf(k, at))));
  const left = featureTotals[i] - features.length;
  return make("div", { class: "chips" }, ...chips, left > 0 ? make("span", { class: "soft small" }, `and ${left} more`) : null);
}

function neighbourLinks(near, most) {
  if (!near.length) return make("p", { class: "soft" }, "none");
  const links = make("div", { class: "links" }, ...Array.from(near.subarray(0, most), (j) => link(j)));
  if (near.length > most) {
    const more = Math.min(near.length, most * 10);
    links.append(make("button", { type: "button", class: "link", onclick: () => { links.replaceWith(neighbourLinks(near, more)); } }, `Show ${more === near.length ? "all" : more}`));
  }
  return links;
}

function fillFound() {
  if (!page.found) { fill(panelOf("found"), make("p", { class: "soft" }, server ? "Label nodes of two classes or more, then update." : "Nothing was looked for: there are no labels, or all nodes have one.")); return; }
  const { count: number, failed, questions } = page.found, panel = panelOf("found");
  const comparison = page.comparison ? [make("p", { id: "comparison" }, page.comparison)] : [];
  if (failed) {
    fill(panel, make("h2", { class: "lead" }, "How many classes are missing cannot be said."), make("p", {}, page.selfTest.verdict), ...comparison);
    return;
  }
  const range = number && number.low !== number.high ? ` (between ${number.low} and ${number.high})` : "";
  const lead = !number ? "" : number.best === 0 ? `No class seems to be missing${range}.` : `${count(number.best, "class is", "classes are")} probably missing from the labels${range}.`;
  const settle = questions.length ? [make("p", { id: "settle" }, `${count(questions.length, "question settles", "questions settle")} the number. What are these nodes?`), make("div", { class: "links" }, ...questions.map((i) => link(i)))] : [];
  fill(panel, make("h2", { class: "lead" }, lead), ...comparison, ...settle, ...groups.map(card), ...(number && number.curve.length > 1 ? [curve(number)] : []));
}

function card(own) {
  const { found: group, code, key } = own, of = byKey.group.categories[code];
  const facts = [count(own.rows.length, "node", "nodes"), `mean probability ${percent(group.probability)}`];
  if (group.nearest_seen) facts.push(`most like ${group.nearest_seen}`);
  if (group.edge_ratio !== null) facts.push(`${percent(group.edge_ratio)} of its edges stay inside`);
  const show = make("button", { type: "button", class: "link", onclick: () => { colourBy("group"); byKey.group.hidden.clear(); byKey.group.categories.forEach((other, k) => { if (k !== code) byKey.group.hidden.add(k); }); refresh(); } }, "Show only these");
  return make("article", { class: "card" }, make("h3", {}, of ? swatch(of) : null, group.name === group.group ? key : `${group.name} (${key})`),
    make("div", { class: "chips", "aria-label": group.caption_kind, role: "group" }, ...group.caption.map((word) => make("span", { class: "chip id" }, word))),
    make("p", { class: "small soft" }, facts.join(" · ")),
    groupTools(own), make("p", { class: "small soft" }, "Typical members"), make("div", { class: "links" }, ...group.members.map((i) => link(i)), show));
}

/** Bars of how well each number of classes fits, without the long tail of those that do not. */
function curve({ best, curve: whole }) {
  const top = Math.max(...whole.map(([, score]) => score)), last = whole.findLastIndex(([k, score]) => k === best || score > 0.01 * top);
  const number = { best, curve: whole.slice(0, Math.max(last + 1, 3)) };
  const high = Math.max(...number.curve.map(([, score]) => score)), low = Math.min(0, ...number.curve.map(([, score]) => score)), wide = 300 / number.curve.length;
  const picture = drawn("svg", { class: "curve", viewBox: "0 0 300 84", role: "img", "aria-label": `How well each number of new classes fits: ${number.curve.map(([k, score]) => `${k}: ${score.toFixed(2)}`).join(", ")}` });
  for (const [at, [k, score]] of number.curve.entries()) {
    const tall = high > low ? (64 * (score - low)) / (high - low) : 64;
    picture.append(drawn("rect", { x: at * wide + 3, y: 66 - tall, width: Math.max(1, wide - 6), height: tall, rx: 2, class: k === number.best ? "best" : "" }), drawn("text", { x: (at + 0.5) * wide, y: 80 }, String(k)));
  }
  return make("div", {}, make("h3", {}, "How well each number of new classes fits"), picture);
}

function fillAudit() {
  if (!page.audit) { fill(panelOf("labels"), make("p", { class: "soft" }, "There are no labels yet.")); return; }
  const { audit, selfTest } = page, panel = panelOf("labels"), share = audit.n_nodes ? audit.n_labelled / audit.n_nodes : 0;
  const parts = [make("h2", { class: "lead" }, `${audit.n_labelled.toLocaleString("en")} of ${count(audit.n_nodes, "node has", "nodes have")} a label (${percent(share)}), in ${count(audit.classes.length, "class", "classes")}.`), bar(share)];
  if (audit.expected_unseen !== null) parts.push(make("p", { class: "small" }, `About ${count(Math.round(audit.expected_unseen), "unlabelled node belongs", "unlabelled nodes belong")} to a class nobody labelled.`));
  parts.push(...audit.warnings.map((text) => make("p", { class: "warning" }, text)));
  parts.push(tableOf("Labelled classes", ["Class", "Labels", "Share"], audit.classes.map(([name, labels]) => [make("span", { class: "id" }, name), labels.toLocaleString("en"), percent(audit.n_labelled ? labels / audit.n_labelled : 0)]), [1, 2]));
  if (audit.homophily !== null) parts.push(make("p", { class: "small soft" }, `${percent(audit.homophily)} of the edges between labelled nodes join the same class${audit.expected_homophily === null ? "" : `; by chance it would be ${percent(audit.expected_homophily)}`}.`));
  if (selfTest) {
    parts.push(make("h3", {}, "How far to trust it"), make("p", {}, selfTest.verdict));
    const tested = selfTest.classes.filter((c) => c.auroc !== null);
    if (tested.length) parts.push(tableOf("Each labelled class hidden in turn (AUROC: 1 is perfect, 0.5 is chance)", ["Hidden class", "Labels", "AUROC"], tested.map((c) => [make("span", { class: "id" }, c.name), c.n_labels, c.auroc.toFixed(2)]), [1, 2]));
  }
  if (page.doubts?.length) parts.push(make("h3", {}, "Doubtful labels"), make("p", { class: "small" }, `${count(page.doubts.length, "label is", "labels are")} probably wrong.`), button("Go through them", openDoubts, { class: "link", id: "doubts" }));
  fill(panel, ...parts);
}
