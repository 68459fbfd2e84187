// Found groups that can be renamed, merged, split and accepted; nothing of it is a label before it is accepted.
let groups = [];

/** Make the groups anew from what was found. */
function makeGroups() {
  const colouring = byKey.group;
  if (!page.found || !colouring) { groups = []; return; }
  const rows = colouring.categories.map(() => []);
  colouring.first.forEach((code, i) => { rows[code].push(i); });
  groups = page.found.classes.map((found) => {
    const code = colouring.categories.findIndex((of) => !of.quiet && of.name === found.group);
    return { found, code, key: found.group, name: found.name === found.group ? "" : found.name, least: 0.5, rows: rows[code] ?? [] };
  });
}

const open = (group) => group.rows.filter((i) => !labelsOf(i).length);
const probable = (group) => open(group).filter((i) => (chance(i) ?? 0) >= group.least);

function groupTools(group) {
  const most = () => `Accept ${probable(group).length.toLocaleString("en")} of ${open(group).length.toLocaleString("en")}`;
  const accept = button(most(), () => { if (group.name.trim()) answer(probable(group), { label: group.name.trim() }, `${group.key} accepted as ${group.name.trim()}`); else name.focus(); }, { class: "primary", "data-key": `accept-${group.key}` });
  const name = make("input", { type: "text", value: group.name, list: "classes", autocomplete: "off", "aria-label": `Class of ${group.key}`, placeholder: "Name of the class", "data-key": `name-${group.key}`,
    oninput: () => { group.name = name.value; }, onkeydown: (event) => { if (event.key === "Enter") accept.click(); } });
  const least = make("output", {}, percent(group.least));
  const slider = make("input", { type: "range", min: "0", max: "0.99", step: "0.01", value: String(group.least), "aria-label": `Accept nodes of ${group.key} from this probability on`, "data-key": `least-${group.key}`,
    oninput: () => { group.least = Number(slider.value); least.textContent = percent(group.least); accept.textContent = most(); } });
  const others = groups.filter((other) => other !== group);
  const merge = others.length ? make("select", { "aria-label": `Merge ${group.key} with`, "data-key": `merge-${group.key}`, onchange: () => mergeGroups(group, groups.find((other) => other.key === merge.value)) },
    make("option", { value: "" }, "Merge with…"), ...others.map((other) => make("option", { value: other.key }, other.key))) : null;
  return make("div", { class: "tools" }, name, make("label", { class: "slide" }, "from ", least, slider), accept,
    button("Select", () => choose(probable(group), { from: group.key }), { "aria-label": `Select ${group.key}`, "data-key": `select-${group.key}` }),
    merge, button("Split", () => splitGroup(group), { "aria-label": `Split ${group.key}`, "data-key": `split-${group.key}` }));
}

function mergeGroups(group, other) {
  if (!other) return;
  group.rows = [...group.rows, ...other.rows];
  group.key = `${group.key} + ${other.key}`;
  groups = groups.filter((each) => each !== other);
  say(`${group.key} are one group now, of ${count(open(group).length, "node", "nodes")}`);
  fillFound();
}

/** Split off what is selected of a group; where nothing of it is, the two halves that lie apart on the map. */
function splitGroup(group) {
  let part = group.rows.filter((i) => selection.has(i));
  if (!part.length || part.length === group.rows.length) part = halfOf(group.rows);
  const taken = new Set(part);
  group.rows = group.rows.filter((i) => !taken.has(i));
  const second = { ...group, key: `${group.key}b`, name: "", rows: part };
  groups.splice(groups.indexOf(group) + 1, 0, second);
  say(`${group.key} has ${count(open(group).length, "node", "nodes")} now, ${second.key} has ${open(second).length.toLocaleString("en")}`);
  fillFound();
}

/** Two means on the map, from the two ends of its longer side. */
function halfOf(rows) {
  const most = (v, sign) => rows.reduce((best, i) => Math.max(best, sign * v[i]), -2), wide = (v) => most(v, 1) + most(v, -1), axis = wide(px) > wide(py) ? px : py;
  const ends = [...rows].sort((a, b) => axis[a] - axis[b]);
  let middles = [ends[0], ends[ends.length - 1]].map((i) => [px[i], py[i]]), far = [];
  for (let round = 0; round < 20; round += 1) {
    const nearer = (i) => { const [a, b] = middles.map(([x, y]) => (px[i] - x) ** 2 + (py[i] - y) ** 2); return b < a; };
    far = rows.filter(nearer);
    const near = rows.filter((i) => !nearer(i)), mean = (own, v) => own.reduce((sum, i) => sum + v[i], 0) / Math.max(own.length, 1);
    middles = [near, far].map((own) => [mean(own, px), mean(own, py)]);
  }
  return far;
}
