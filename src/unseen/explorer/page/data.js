// Owns the content of the page: nodes, edges, labels and what was found, decoded from JSON.
// Nothing of it is ever markup.
/** @type {Page} */
const page = JSON.parse(document.getElementById("data")?.textContent ?? "");
const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array };

/** An array: the kind of its numbers, then their base64. */
function numbers(text) {
  const raw = atob(text.slice(2)),
    bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k += 1) bytes[k] = raw.charCodeAt(k);
  return new KINDS[text.slice(0, 2)](bytes.buffer);
}

const NONE = 65535;
const n = page.ids.length;
const px = new Float32Array(numbers(page.x)).map((v) => v / 65535);
const py = new Float32Array(numbers(page.y)).map((v) => v / 65535);
/** @type {Numbers | null} */
let probability = null;
/** @type {Numbers | null} */
let ranks = null;
/** @type {Colouring[]} */
let colourings = [];
/** @type {Record<string, Colouring>} */
let byKey = {};

/** Lists of different lengths, one per node, stored in two arrays. */
function lists(counts, values) {
  const start = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i += 1) start[i + 1] = start[i] + counts[i];
  return (i) => values.subarray(start[i], start[i + 1]);
}
const none = new Uint32Array(0);
const listsOf = (stored) =>
  stored === null ? () => none : lists(numbers(stored.counts), numbers(stored.values));

const truthOf = listsOf(page.truth);
const featuresOf = listsOf(page.features);

/**
 * Edges at both ends. A link is [neighbour, relation, direction, sign]; the direction is 1 if it
 * leads there, -1 if it comes from there, 0 if neither.
 */
const { neighboursOf, linksOf } = (() => {
  const relations = page.edges ?? [],
    stored = relations.map(listsOf),
    counts = new Uint32Array(n);
  const each = (use) =>
    stored.forEach((of, r) => {
      let edge = 0;
      for (let i = 0; i < n; i += 1)
        for (const j of of(i)) {
          if (i !== j) use(i, j, r, edge);
          edge += 1;
        }
    });
  each((i, j) => {
    counts[i] += 1;
    counts[j] += 1;
  });
  const place = new Uint32Array(n);
  for (let i = 1; i < n; i += 1) place[i] = place[i - 1] + counts[i - 1];
  const ends = new Uint32Array(counts.reduce((a, b) => a + b, 0)),
    plain = relations.length < 2 && !relations[0]?.directed && !relations[0]?.negative;
  if (plain) {
    each((i, j) => {
      ends[place[i]++] = j;
      ends[place[j]++] = i;
    });
    const near = lists(counts, ends);
    return { neighboursOf: near, linksOf: (i) => Array.from(near(i), (j) => [j, 0, 0, 1]) };
  }
  const kinds = new Uint32Array(ends.length),
    negative = relations.map((of) => of.negative && numbers(of.negative));
  each((i, j, r, edge) => {
    const way = relations[r].directed ? 1 : 0,
      sign = negative[r]?.[edge] ? 4 : 0;
    kinds[place[i]] = 8 * r + sign + way;
    ends[place[i]++] = j;
    kinds[place[j]] = 8 * r + sign + 2 * way;
    ends[place[j]++] = i;
  });
  const near = lists(counts, ends),
    kindsOf = lists(counts, kinds);
  const links = (i) =>
    Array.from(near(i), (j, k) => {
      const kind = kindsOf(i)[k];
      return [j, kind >> 3, [0, 1, -1][kind & 3], kind & 4 ? -1 : 1];
    });
  return { neighboursOf: (i) => Uint32Array.from(new Set(near(i))), linksOf: links };
})();

/** The nearest nodes in vector space; nodes of other types have no vector. */
const nearOf = (() => {
  if (!page.near) return () => none;
  const { k } = page.near,
    rows = numbers(page.near.values);
  return (i) => rows.subarray(i * k, (i + 1) * k);
})();

/** Types of nodes: the first ones are shown from the start, the others when asked for. */
const typeCodes = page.types && numbers(page.types.codes);
const typesShown = new Set(page.types ? page.types.names.slice(0, page.types.first).keys() : []);
const typeOf = (i) => (page.types ? page.types.names[typeCodes[i]] : "");

const rowOf = (() => {
  let rows = null;
  return (node) => {
    rows ??= new Map(page.ids.map((text, i) => [text, i]));
    return rows.get(node) ?? -1;
  };
})();

/** Labels of each node, and its status: "skipped", "unknown", "confirmed" or "". */
/** @type {Value} */
const NOTHING = [[], ""];
/** @type {Value[]} */
const values = (() => {
  const codes = listsOf(page.labels),
    known = new Array(n).fill(NOTHING);
  if (page.labels)
    for (let i = 0; i < n; i += 1)
      if (codes(i).length) known[i] = [Array.from(codes(i), (k) => page.labels?.names[k]), ""];
  for (const [node, status] of page.statuses ?? [])
    if (rowOf(node) >= 0) known[rowOf(node)] = [known[rowOf(node)][0], status];
  return known;
})();
const labelsOf = (i) => values[i][0];
const statusOf = (i) => values[i][1];

/** Classes in the order in which they came up: a class keeps its colour and shape for good. */
const known = new Map();
function lookOf(name) {
  if (!known.has(name)) known.set(name, known.size);
  const k = known.get(name);
  return {
    colour: k % page.palette.classes.light.length,
    shape: Math.floor(k / page.palette.safe) % page.shapes.length,
  };
}

/** Take what discovery found, at the start and after every update; the map stays as it is. */
function take(findings) {
  Object.assign(page, findings);
  probability = page.probability === null ? null : numbers(page.probability);
  ranks = page.evidence && numbers(page.evidence.ranks);
  const hidden = Object.fromEntries(colourings.map((c) => [c.key, c.hidden]));
  colourings = [...page.colourings, ...(page.attributes ?? [])].map((c) => ({
    ...c,
    codes: new Uint16Array(numbers(c.codes)),
    first: new Uint16Array(0),
    counts: [],
    hidden: hidden[c.key] ?? new Set(),
  }));
  if (!colourings.some((c) => c.key === "label"))
    colourings.push({
      key: "label",
      name: "Label",
      categories: [{ name: "no label", quiet: true, shape: 0 }],
      codes: new Uint16Array(n),
      first: new Uint16Array(0),
      counts: [],
      hidden: new Set(),
    });
  byKey = Object.fromEntries(colourings.map((c) => [c.key, c]));
  for (const key of ["label", "predicted", "overview", "truth"])
    for (const of of byKey[key]?.categories ?? [])
      if (!of.quiet && !of.group) Object.assign(of, lookOf(of.name));
  for (const c of colourings) {
    c.first = c.codes.slice();
    c.counts = new Array(c.categories.length).fill(0);
    for (const code of c.codes) c.counts[code] += 1;
  }
  page.labelled = Uint8Array.from(values, (_, i) => Number(labelsOf(i).length > 0));
}

/** Colour a node by what is known of it now; where nothing is, by what was found. */
function relabel(i) {
  const name = labelsOf(i)[0];
  for (const c of colourings) {
    if (!["label", "overview", "predicted", "group"].includes(c.key)) continue;
    let code = page.labelled[i] || c.key === "label" ? 0 : c.first[i];
    if (name !== undefined)
      code = c.key === "group" ? 0 : c.categories.findIndex((of) => of.name === name && !of.quiet);
    if (code < 0) {
      const look = { ...lookOf(name), muted: c.key === "overview" };
      code = c.categories.push({ name, caption: "", quiet: false, ...look }) - 1;
      c.counts.push(0);
    }
    c.counts[c.codes[i]] -= 1;
    c.counts[code] += 1;
    c.codes[i] = code;
  }
}

const titleOf = (i) => page.titles?.[i] || idOf(i);
const idOf = (i) => (page.ids[i] === "" ? "(empty id)" : page.ids[i]);
const chance = (i) =>
  probability === null || probability[i] === NONE || labelsOf(i).length
    ? null
    : probability[i] / 10000;
const percent = (p) => `${(100 * p).toFixed(p > 0.995 || p < 0.005 ? 1 : 0)} %`;
const category = (colouring, i) => colouring.categories[colouring.codes[i]];
const named = (colouring, i) =>
  colouring && !category(colouring, i).quiet ? category(colouring, i).name : "";
const count = (number, one, several) =>
  `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
const capitalise = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
const textOf = (i) => page.texts?.[i] ?? "";
/** At most so many signs, with no half of a surrogate pair at the end. */
const short = (text, most) =>
  text.length > most ? `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…` : text;

/**
 * Text of a table. Ids, labels and answers are written unchanged, because the file is read back.
 * The columns `guarded` are not: there, cells that a spreadsheet would run as a formula begin with
 * an apostrophe.
 */
function csv(rows, guarded = []) {
  const cell = (value, k) => {
    let text = value === null || value === undefined ? "" : String(value);
    if (guarded.includes(k) && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    const plain = /^[\p{L}\p{N}_.:@/+|'-]+( [\p{L}\p{N}_.:@/+|'-]+)*$|^$/u.test(text);
    return plain ? text : `"${text.replaceAll('"', '""')}"`;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Let the reader save a file: a csv where a text is given. */
function download(name, content) {
  const address = URL.createObjectURL(
    typeof content === "string" ? new Blob([content], { type: "text/csv" }) : content,
  );
  const anchor = make("a", { href: address, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
take({});
