// Owns the panel Classes: candidate classes that can be renamed, merged, split and accepted.
// Nothing is a label before it is accepted.
/** @type {Group[]} */
let groups = [];

/** Make the groups from the present findings. */
function makeGroups() {
  const colouring = byKey.group;
  if (!page.found || !colouring) {
    groups = [];
    return;
  }
  const rows = colouring.categories.map(() => /** @type {number[]} */ ([]));
  colouring.first.forEach((code, i) => {
    rows[code].push(i);
  });
  groups = page.found.classes.map((found) => {
    const code = colouring.categories.findIndex((of) => !of.quiet && of.name === found.group);
    return {
      found,
      code,
      key: found.group,
      name: found.name === found.group ? "" : found.name,
      least: 0.5,
      rows: rows[code] ?? [],
    };
  });
}

const openRows = (group) => group.rows.filter((i) => !labelsOf(i).length);
const probable = (group) => openRows(group).filter((i) => (chance(i) ?? 0) >= group.least);

/** The field, slider and buttons that turn a candidate class into labels. */
function groupTools(group) {
  const text = () =>
    `Accept ${probable(group).length.toLocaleString("en")} of ` +
    openRows(group).length.toLocaleString("en");
  const error = make("p", {
    class: "error",
    id: `error-${group.key}`,
    role: "alert",
    hidden: true,
  });
  const acceptGroup = () => {
    const label = group.name.trim();
    if (label) answer(probable(group), { label }, `${group.key} accepted as ${label}`);
    else requireName(name, error, `Type a name for ${group.key} first.`);
  };
  const accept = button(text(), acceptGroup, {
    "data-key": `accept-${group.key}`,
    "data-primary": probable(group).length > 0,
  });
  const name = make("input", {
    type: "text",
    value: group.name,
    list: "classes",
    autocomplete: "off",
    "aria-label": `Name of ${group.key}`,
    "aria-describedby": error.id,
    placeholder: "Class name",
    "data-key": `name-${group.key}`,
    oninput: () => {
      group.name = name.value;
      error.hidden = true;
      name.removeAttribute("aria-invalid");
    },
    onkeydown: (event) => {
      if (event.key === "Enter") acceptGroup();
    },
  });
  const least = make("output", {}, percent(group.least));
  const slider = make("input", {
    type: "range",
    min: "0",
    max: "0.99",
    step: "0.01",
    value: String(group.least),
    "aria-label": `Accept nodes of ${group.key} from this probability on`,
    "data-key": `least-${group.key}`,
    oninput: () => {
      group.least = Number(slider.value);
      least.textContent = percent(group.least);
      accept.textContent = text();
    },
  });
  const others = groups.filter((other) => other !== group);
  const merge = others.length
    ? make(
        "select",
        {
          "aria-label": `Merge ${group.key} with`,
          "data-key": `merge-${group.key}`,
          onchange: () =>
            mergeGroups(
              group,
              groups.find((other) => other.key === merge.value),
            ),
        },
        make("option", { value: "" }, "Merge with…"),
        ...others.map((other) => make("option", { value: other.key }, other.key)),
      )
    : null;
  return make(
    "div",
    { class: "tools" },
    name,
    accept,
    error,
    make("label", { class: "slide" }, "from ", least, slider),
    button("Select", () => choose(probable(group), { from: group.key }), {
      "aria-label": `Select ${group.key}`,
      "data-key": `select-${group.key}`,
    }),
    merge,
    button("Split", () => splitGroup(group), {
      "aria-label": `Split ${group.key}`,
      "data-key": `split-${group.key}`,
    }),
  );
}

/** Say that a name is missing, and put the cursor where it belongs. */
function requireName(input, error, sentence) {
  error.textContent = sentence;
  error.hidden = false;
  input.setAttribute("aria-invalid", "true");
  input.focus();
}

function mergeGroups(group, other) {
  if (!other) return;
  group.rows = [...group.rows, ...other.rows];
  group.key = `${group.key} + ${other.key}`;
  groups = groups.filter((each) => each !== other);
  say(`${group.key} are one group now, of ${count(openRows(group).length, "node", "nodes")}`);
  fillClasses();
}

/** Split off the selected nodes of a group, or else the two halves that lie apart on the map. */
function splitGroup(group) {
  let part = group.rows.filter((i) => selection.has(i));
  if (!part.length || part.length === group.rows.length) part = halfOf(group.rows);
  const taken = new Set(part);
  group.rows = group.rows.filter((i) => !taken.has(i));
  const second = { ...group, key: `${group.key}b`, name: "", rows: part };
  groups.splice(groups.indexOf(group) + 1, 0, second);
  say(
    `${group.key} has ${count(openRows(group).length, "node", "nodes")} now, ` +
      `${second.key} has ${openRows(second).length.toLocaleString("en")}`,
  );
  fillClasses();
}

/** Two means on the map, from the two ends of its longer side. */
function halfOf(rows) {
  const most = (v, sign) => rows.reduce((best, i) => Math.max(best, sign * v[i]), -2),
    wide = (v) => most(v, 1) + most(v, -1),
    axis = wide(px) > wide(py) ? px : py;
  const ends = [...rows].sort((a, b) => axis[a] - axis[b]);
  let middles = [ends[0], ends[ends.length - 1]].map((i) => [px[i], py[i]]),
    far = [];
  for (let round = 0; round < 20; round += 1) {
    const nearer = (i) => {
      const [a, b] = middles.map(([x, y]) => (px[i] - x) ** 2 + (py[i] - y) ** 2);
      return b < a;
    };
    far = rows.filter(nearer);
    const near = rows.filter((i) => !nearer(i)),
      mean = (own, v) => own.reduce((sum, i) => sum + v[i], 0) / Math.max(own.length, 1);
    middles = [near, far].map((own) => [mean(own, px), mean(own, py)]);
  }
  return far;
}

function fillClasses() {
  const panel = panelOf("classes");
  if (!page.found) {
    const text = server
      ? "Label nodes of two classes or more, then update."
      : "Nothing was looked for: there are no labels, or all nodes have one.";
    fill(panel, make("p", { class: "soft" }, text));
    return;
  }
  const { count: number, failed, questions } = page.found;
  const lead = missingFacts().join(", "),
    range =
      number && number.low !== number.high ? ` (between ${number.low} and ${number.high})` : "";
  const settle = questions.length
    ? [
        make(
          "p",
          { id: "settle" },
          "The number is not certain. " +
            `${count(questions.length, "answer", "answers")} would show it:`,
        ),
        make("div", { class: "links" }, ...questions.map((i) => link(i))),
      ]
    : [];
  fill(
    panel,
    narrow.matches ? hint("map") : null,
    hint("classes"),
    staleNote(),
    make("h2", { class: "lead" }, `${capitalise(lead)}${range}.`),
    page.comparison ? make("p", { id: "comparison" }, page.comparison) : null,
    page.selfTest ? make("p", { class: "small soft", id: "trust" }, page.selfTest.verdict) : null,
    ...(failed ? [] : settle),
    ...groups.map(card),
    ...errorRates(),
    ...(!failed && number && number.curve.length > 1 ? [curve(number)] : []),
  );
}

/** Nodes with an error rate: a slider with a bound, and a list at a false discovery rate. */
function errorRates() {
  const rates = page.rates;
  if (!rates) return [];
  if (!rates.holds)
    return [make("h3", {}, "Error rates"), make("p", { id: "rates" }, rates.sentence)];
  const bound = make("p", { id: "bound" }),
    above = make("output", {});
  const slider = make("input", {
    type: "range",
    min: "0",
    max: "99",
    value: String(shownRates.above),
    "aria-label": "Nodes above this probability of a missing class",
    "data-key": "above",
    oninput: () => {
      shownRates.above = Number(slider.value);
      describeBound();
    },
  });
  const describeBound = () => {
    const nodes = rates.above[shownRates.above],
      wrong = rates.at_most_false[shownRates.above];
    above.textContent = `${shownRates.above} %`;
    bound.textContent =
      `${count(nodes, "node", "nodes")}; at most ${wrong.toLocaleString("en")} of them false ` +
      "(95 % sure, wherever you put the slider)";
  };
  describeBound();
  const sentence = make("p", { id: "list" }, rates.lists[shownRates.list].sentence);
  const choice = make(
    "select",
    {
      "aria-label": "Error rate of the list",
      "data-key": "fdr",
      onchange: () => {
        shownRates.list = choice.selectedIndex;
        sentence.textContent = rates.lists[shownRates.list].sentence;
      },
    },
    ...rates.lists.map(({ fdr }, k) =>
      make("option", { selected: k === shownRates.list }, percent(fdr)),
    ),
  );
  const listed = () => {
    const q = numbers(rates.q),
      most = 10000 * rates.lists[shownRates.list].fdr;
    return [...q.keys()].filter((i) => q[i] <= most);
  };
  return [
    make("h3", {}, "Error rates"),
    make("p", { id: "rates" }, rates.sentence),
    make("label", { class: "slide" }, "Probability above ", above, slider),
    bound,
    button(
      "Select these nodes",
      () => choose([...Array(n).keys()].filter((i) => (chance(i) ?? 0) > shownRates.above / 100)),
      { class: "link", id: "select-above" },
    ),
    make("label", { class: "slide" }, "List at an error rate of ", choice),
    sentence,
    button("Select this list", () => choose(listed(), { from: "list" }), {
      class: "link",
      id: "select-list",
    }),
  ];
}
/** Where the reader left the slider and the list. */
const shownRates = { above: 50, list: 1 };

function card(own) {
  const { found: group, code, key } = own,
    of = byKey.group.categories[code];
  const facts = [
    count(own.rows.length, "node", "nodes"),
    `mean probability ${percent(group.probability)}`,
  ];
  if (group.fdr === null) facts.push("no error rate");
  if (group.nearest_seen) facts.push(`most like ${group.nearest_seen}`);
  if (group.edge_ratio !== null)
    facts.push(`${percent(group.edge_ratio)} of its edges stay inside`);
  const show = make(
    "button",
    {
      type: "button",
      class: "link",
      onclick: () => {
        colourBy("group");
        byKey.group.hidden.clear();
        byKey.group.categories.forEach((other, k) => {
          if (k !== code) byKey.group.hidden.add(k);
        });
        refresh();
      },
    },
    "Show only these",
  );
  return make(
    "article",
    { class: "card" },
    make(
      "h3",
      {},
      of ? swatch(of) : null,
      group.name === group.group ? key : `${group.name} (${key})`,
    ),
    make(
      "div",
      { class: "chips", "aria-label": group.caption_kind, role: "group" },
      ...group.caption.map((word) => make("span", { class: "chip id" }, word)),
    ),
    make("p", { class: "small soft" }, facts.join(" · ")),
    groupTools(own),
    make("p", { class: "small soft" }, "Typical members"),
    make("div", { class: "links" }, ...group.members.map((i) => link(i)), show),
  );
}

/** Bars of how well each number of classes fits, without the long tail of those that do not. */
function curve({ best, curve: whole }) {
  const top = Math.max(...whole.map(([, score]) => score)),
    last = whole.findLastIndex(([k, score]) => k === best || score > 0.01 * top);
  const number = { best, curve: whole.slice(0, Math.max(last + 1, 3)) };
  const high = Math.max(...number.curve.map(([, score]) => score)),
    low = Math.min(0, ...number.curve.map(([, score]) => score)),
    wide = 300 / number.curve.length;
  const picture = drawn("svg", {
    class: "curve",
    viewBox: "0 0 300 84",
    role: "img",
    "aria-label":
      "How well each number of missing classes fits: " +
      number.curve.map(([k, score]) => `${k}: ${score.toFixed(2)}`).join(", "),
  });
  for (const [at, [k, score]] of number.curve.entries()) {
    const tall = high > low ? (64 * (score - low)) / (high - low) : 64;
    picture.append(
      drawn("rect", {
        x: at * wide + 3,
        y: 66 - tall,
        width: Math.max(1, wide - 6),
        height: tall,
        rx: 2,
        class: k === number.best ? "best" : "",
      }),
      drawn("text", { x: (at + 0.5) * wide, y: 80 }, String(k)),
    );
  }
  return make("div", {}, make("h3", {}, "How well each number of missing classes fits"), picture);
}
