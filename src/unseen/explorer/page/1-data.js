// What the page shows: numbers come as base64 of little-endian arrays, texts as JSON. Nothing of it is ever markup.
const page = JSON.parse(document.getElementById("data").textContent);
const numbers = (Kind, text) => new Kind(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);

const NONE = 65535;
const n = page.ids.length;
const px = Float32Array.from(numbers(Uint16Array, page.x), (v) => v / 65535);
const py = Float32Array.from(numbers(Uint16Array, page.y), (v) => v / 65535);
const probability = page.probability === null ? null : numbers(Uint16Array, page.probability);
const colourings = page.colourings.map((c) => ({ ...c, codes: numbers(Uint16Array, c.codes), hidden: new Set() }));
const byKey = Object.fromEntries(colourings.map((c) => [c.key, c]));

/** Lists of different lengths, one per node, stored in two arrays. */
function lists(counts, values) {
  const start = new Uint32Array(counts.length + 1);
  counts.forEach((count, i) => { start[i + 1] = start[i] + count; });
  return (i) => values.subarray(start[i], start[i + 1]);
}
const none = new Uint32Array(0);
const listsOf = (stored) => (stored === null ? () => none : lists(numbers(Uint32Array, stored.counts), numbers(Uint32Array, stored.values)));

const labelsOf = listsOf(page.labels);
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

const idOf = (i) => (page.ids[i] === "" ? "(empty id)" : page.ids[i]);
const chance = (i) => (probability === null || probability[i] === NONE ? null : probability[i] / 10000);
const percent = (p) => `${(100 * p).toFixed(p > 0.995 || p < 0.005 ? 1 : 0)} %`;
const category = (colouring, i) => colouring.categories[colouring.codes[i]];
const named = (colouring, i) => (colouring && !category(colouring, i).quiet ? category(colouring, i).name : "");
const count = (number, one, several) => `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Cells that a spreadsheet would run as formulas begin with an apostrophe, so that they stay text. */
function csv(rows) {
  const cell = (value) => {
    let text = value === null || value === undefined ? "" : String(value);
    if (/^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    return /[",\r\n\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
