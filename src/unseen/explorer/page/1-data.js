// What the page shows: numbers come as base64 of little-endian arrays, texts as JSON. Nothing of it is ever markup.
const page = JSON.parse(document.getElementById("data").textContent);
const numbers = (Kind, text) => new Kind(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);

const NONE = 65535;
const n = page.ids.length;
const px = Float32Array.from(numbers(Uint16Array, page.x), (v) => v / 65535);
const py = Float32Array.from(numbers(Uint16Array, page.y), (v) => v / 65535);
let probability = null, ranks = null, colourings = [], byKey = {};

/** Lists of different lengths, one per node, stored in two arrays. */
function lists(counts, values) {
  const start = new Uint32Array(counts.length + 1);
  counts.forEach((count, i) => { start[i + 1] = start[i] + count; });
  return (i) => values.subarray(start[i], start[i + 1]);
}
const none = new Uint32Array(0);
const listsOf = (stored) => (stored === null ? () => none : lists(numbers(Uint32Array, stored.counts), numbers(Uint32Array, stored.values)));

const truthOf = listsOf(page.truth);
const featuresOf = listsOf(page.features);
const neighboursOf = (() => {
  // Each edge is stored once, at its lower end; both ends want it.
  const later = listsOf(page.edges);
  if (page.edges === null) return later;
  const counts = new Uint32Array(n);
  for (let i = 0; i < n; i += 1) for (const j of later(i)) { counts[i] += 1; counts[j] += 1; }
  const place = new Uint32Array(n);
  for (let i = 1; i < n; i += 1) place[i] = place[i - 1] + counts[i - 1];
  const all = new Uint32Array(counts.reduce((a, b) => a + b, 0));
  for (let i = 0; i < n; i += 1) for (const j of later(i)) { all[place[i]++] = j; all[place[j]++] = i; }
  return lists(counts, all);
})();

/** What is known of each node: its classes, or "skip" or "unknown". */
const NOTHING = [];
const values = (() => {
  const codes = listsOf(page.labels);
  return Array.from({ length: n }, (_, i) => (codes(i).length ? Array.from(codes(i), (k) => page.labels.names[k]) : NOTHING));
})();
const labelsOf = (i) => (Array.isArray(values[i]) ? values[i] : NOTHING);

/** Take what discovery found, at the start and after every update; the map stays as it is. */
function take(findings) {
  Object.assign(page, findings);
  probability = page.probability === null ? null : numbers(Uint16Array, page.probability);
  ranks = page.evidence && numbers(Uint8Array, page.evidence.ranks);
  const hidden = Object.fromEntries(colourings.map((c) => [c.key, c.hidden]));
  colourings = page.colourings.map((c) => ({ ...c, codes: numbers(Uint16Array, c.codes), hidden: hidden[c.key] ?? new Set() }));
  if (!colourings.some((c) => c.key === "label")) colourings.push({ key: "label", name: "Label", categories: [{ name: "no label", quiet: true, shape: 0 }], codes: new Uint16Array(n), hidden: new Set() });
  byKey = Object.fromEntries(colourings.map((c) => [c.key, c]));
  for (const c of colourings) {
    c.first = c.codes.slice();
    c.counts = new Array(c.categories.length).fill(0);
    for (const code of c.codes) c.counts[code] += 1;
  }
  page.labelled = Uint8Array.from(values, (_, i) => labelsOf(i).length > 0);
}

/** Colour a node by what is known of it now; where nothing is, by what was found. */
function relabel(i) {
  const name = labelsOf(i)[0];
  for (const c of colourings) {
    if (!["label", "overview", "predicted", "group"].includes(c.key)) continue;
    let code = page.labelled[i] || c.key === "label" ? 0 : c.first[i];
    if (name !== undefined) code = c.key === "group" ? 0 : c.categories.findIndex((of) => of.name === name && !of.quiet);
    if (code < 0) {
      const k = new Set(byKey.label.categories.map((of) => of.name)).size - 1;
      code = c.categories.push({ name, caption: "", quiet: false, muted: c.key === "overview", colour: k % page.palette.classes.light.length, shape: Math.floor(k / page.palette.classes.light.length) % page.shapes.length }) - 1;
      c.counts.push(0);
    }
    c.counts[c.codes[i]] -= 1;
    c.counts[code] += 1;
    c.codes[i] = code;
  }
}

const rowOf = (() => { let rows = null; return (node) => { rows ??= new Map(page.ids.map((text, i) => [text, i])); return rows.get(node) ?? -1; }; })();
const idOf = (i) => (page.ids[i] === "" ? "(empty id)" : page.ids[i]);
const chance = (i) => (probability === null || probability[i] === NONE || labelsOf(i).length ? null : probability[i] / 10000);
const percent = (p) => `${(100 * p).toFixed(p > 0.995 || p < 0.005 ? 1 : 0)} %`;
const category = (colouring, i) => colouring.categories[colouring.codes[i]];
const named = (colouring, i) => (colouring && !category(colouring, i).quiet ? category(colouring, i).name : "");
const count = (number, one, several) => `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Cells that a spreadsheet would run as formulas begin with an apostrophe, so that they stay text; not in `exact` files. */
function csv(rows, exact = false) {
  const cell = (value) => {
    let text = value === null || value === undefined ? "" : String(value);
    if (!exact && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    return /[",\r\n\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Let the reader save a text as a file. */
function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const anchor = make("a", { href: address, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
take({});
