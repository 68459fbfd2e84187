// Owns the answers: they go to Python, and are shown when they are saved there; without a server
// or a notebook they stay in the page until they are downloaded.
const original = values.slice();
/** @type {{ session: string | null | undefined, revision: number, findings: number, undo: number,
 *   own: [string, Value][][], state: State | null, shown?: string }} */
const saved = { session: null, revision: 0, findings: 0, undo: 0, own: [], state: null };

/** The classes there are, the most frequent first. */
function classNames() {
  const counts = new Map();
  for (let i = 0; i < n; i += 1)
    for (const name of labelsOf(i)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

/** The most likely classes of some nodes: predicted, then those of neighbours, then all others. */
function likelyNames(rows) {
  const votes = new Map(),
    vote = (name, weight) => {
      if (name) votes.set(name, (votes.get(name) ?? 0) + weight);
    };
  for (const i of rows.slice(0, 200)) {
    if (doubts) vote(doubts[at]?.likely_class, 9);
    vote(named(byKey.predicted, i), 1 - (chance(i) ?? 0));
    for (const j of [...neighboursOf(i)].slice(0, 50))
      for (const name of labelsOf(j)) vote(name, 1);
  }
  const most = [...votes].sort((a, b) => b[1] - a[1]).map(([name]) => name),
    all = [...new Set([...most, ...classNames()])];
  return (doubts ? [...new Set([all[0], ...rows.flatMap(labelsOf), ...all])] : all)
    .filter(Boolean)
    .slice(0, 9);
}

/** Buttons and a field that give nodes a class. */
function answerForm(rows, where) {
  const give = (label) => answer(rows, { label }, null, where);
  const named = likelyNames(rows).map((name, k) =>
    make(
      "button",
      {
        type: "button",
        class: "answer",
        "data-key": `${where}-${k + 1}`,
        onclick: () => give(name),
      },
      make("kbd", {}, String(k + 1)),
      " ",
      make("span", { class: "id" }, name),
    ),
  );
  const error = make("p", { class: "error", id: `${where}-error`, role: "alert", hidden: true });
  const giveTyped = () => {
    if (input.value.trim()) give(input.value.trim());
    else requireName(input, error, "Type the name of a class first.");
  };
  const input = make("input", {
    type: "text",
    id: `${where}-class`,
    list: "classes",
    autocomplete: "off",
    placeholder: "Another class",
    "aria-label": "Another or a new class",
    "aria-describedby": error.id,
    oninput: () => {
      error.hidden = true;
      input.removeAttribute("aria-invalid");
    },
    onkeydown: (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        giveTyped();
      } else if (event.key === "Escape") input.blur();
    },
  });
  const act = (key, text, action) =>
    make(
      "button",
      {
        type: "button",
        class: "answer",
        "data-key": `${where}-${key}`,
        onclick: () => answer(rows, { action }, null, where),
      },
      make("kbd", {}, key),
      ` ${text}`,
    );
  return make(
    "div",
    { class: "answers", role: "group", "aria-label": "Answers" },
    ...named,
    input,
    button("Label", giveTyped, { "data-primary": true, "data-key": `${where}-label` }),
    error,
    act("u", "unknown", "unknown"),
    act("s", "skip", "skip"),
    rows.some((i) => labelsOf(i).length) ? act("c", "clear", "clear") : null,
  );
}

/**
 * Save an answer about nodes, and show it only when it is saved.
 * @param {number[]} rows
 * @param {{ label?: string, action?: string }} given
 * @param {string | null} what what to tell the reader
 * @param {string} where the panel that the answer comes from
 */
async function answer(rows, { label, action }, what = null, where = "") {
  if (!rows.length) {
    say("There is no node left to answer about");
    return;
  }
  const asked = queue()[at],
    checks = where === "questions" && doubts;
  if (checks && action === "skip") {
    advance(asked);
    return;
  } // the label stays as it is
  const reply = await send("answers", {
    node: rows.map((i) => page.ids[i]),
    label,
    action: checks && label !== undefined ? "confirm" : action,
  });
  if (!reply) return;
  tell(
    `${what ?? `${count(rows.length, "node", "nodes")}: ${label ?? action}`}, saved` +
      (server ? "" : " in this page; download the labels when you are done"),
  );
  if (where === "questions") advance(asked);
  else if (where === "selection") choose([]);
}

async function undo() {
  if (!saved.undo) {
    say("There is no answer left to undo");
    return;
  }
  if (await send("undo", {})) tell("The last answer is undone, saved");
}

const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** Ask Python and take what it says; what went wrong is shown, and nothing else changes. */
async function send(name, body) {
  try {
    const state = !server
      ? local(name, body)
      : await (name === "state" ? askState() : ask(name, body));
    follow(state);
    return state;
  } catch (error) {
    alarm(name === "state" ? capitalise(messageOf(error)) : `Not saved: ${messageOf(error)}`);
    return null;
  }
}

/** Do what the server does, for a page from disk. */
function local(name, body) {
  let changes;
  if (name === "undo") changes = (saved.own.pop() ?? []).map(([node, before]) => [node, before]);
  else {
    if (
      body.label !== undefined &&
      (/[|\p{C}]/u.test(body.label) ||
        /^(-1|nan|NA|N\/A|<NA>|None|null|NULL)$/.test(body.label) ||
        body.label.length > 200)
    )
      throw new Error(`a class cannot be called ${short(body.label, 40)}`);
    const statuses = { skip: "skipped", unknown: "unknown", confirm: "confirmed" };
    const value = [body.label === undefined ? [] : [body.label], statuses[body.action] ?? ""];
    saved.own.push(body.node.map((node) => [node, values[rowOf(node)]]));
    changes = body.node.map((node) => [node, [...value, ...drawnFor(node, body)]]);
  }
  return { revision: saved.revision + 1, changes, undo: saved.own.length };
}

/** How the question about a node was drawn, and from how many; nodes of a group are guesses. */
function drawnFor(node, body) {
  const [, , drawn, pool] = values[rowOf(node)];
  if (drawn === "random" || drawn === "score") return [drawn, pool];
  if (body.node.length > 1) return body.label === undefined ? [] : ["group", 0];
  const row = page.suggestions?.find((each) => each.node === node);
  return row?.drawn ? [row.drawn, row.pool ?? 0] : [];
}

/** Take a state: changes of this and of other windows, and what an update found. */
function follow(state) {
  if (saved.session && state.session && state.session !== saved.session) {
    location.reload();
    return;
  }
  let touched = false;
  for (const [node, value] of state.changes) {
    const i = rowOf(node);
    if (i < 0 || JSON.stringify(values[i]) === JSON.stringify(value)) continue;
    values[i] = value;
    relabel(i);
    touched = true;
  }
  Object.assign(saved, {
    session: state.session,
    revision: state.revision,
    undo: state.undo,
    state,
  });
  if (state.findings) takeFindings(state.findings, state.update.number);
  else if (touched) {
    if (!doubts) at = 0;
    fillClassNames();
    refresh();
    fillPanels();
  }
  fillProgress();
}

/** What an update found: the map stays, is coloured by predicted class, and changes are ringed. */
function takeFindings(findings, number) {
  const look = (i) => [
    named(byKey.overview ?? byKey.predicted, i),
    Math.round(4 * (chance(i) ?? 0)),
  ];
  const before = Array.from({ length: n }, (_, i) => look(i)),
    selected = state.selected;
  take(findings);
  for (let i = 0; i < n; i += 1) relabel(i);
  changed = new Set(
    [...before.keys()].filter((i) => {
      const [name, step] = look(i);
      return name !== before[i][0] || Math.abs(step - before[i][1]) > 1;
    }),
  );
  saved.findings = number;
  doubts = null;
  at = 0;
  fillColourings(byKey.overview ? "overview" : byKey.predicted ? "predicted" : page.start);
  makeGroups();
  state.selected = selected;
  fillClassNames();
  refresh();
  fillPanels();
  tell(`Updated: ${count(changed.size, "node has", "nodes have")} changed`);
}

const alarm = (text) => {
  byId("alarm").textContent = text;
  byId("alarm").hidden = !text;
};
let telling = 0;
/** Show a message over the map for a while, and announce it. */
const tell = (text) => {
  alarm("");
  byId("told").textContent = text;
  byId("told").hidden = false;
  clearTimeout(telling);
  telling = setTimeout(() => {
    byId("told").hidden = true;
  }, 6000);
  say(text);
};

function fillClassNames() {
  byId("classes").replaceChildren(...classNames().map((name) => make("option", { value: name })));
}

/**
 * Save all labels and answers, answers last, in their order. Where a label was corrected,
 * `replaces` names the old one.
 */
function downloadLabels() {
  const rows = [],
    asked = [...new Set(saved.own.flat().map(([node]) => rowOf(node)))],
    isAsked = new Set(asked);
  const order = [...values.keys()].filter((i) => !isAsked.has(i));
  for (const i of [...order, ...asked]) {
    const [labels, status, drawn = "", pool = 0] = values[i];
    const replaced = labels.length ? original[i][0].filter((name) => !labels.includes(name)) : [];
    const size = Math.max(labels.length, replaced.length, status || drawn === "random" ? 1 : 0);
    for (let k = 0; k < size; k += 1)
      rows.push([
        page.ids[i],
        labels[k] ?? labels[0] ?? "",
        replaced[k] ?? "",
        ...(k ? ["", "", ""] : [status, drawn, pool || ""]),
      ]);
  }
  const header = ["node", "label", "replaces", "status", "drawn", "pool"],
    used = [0, 1, ...[2, 3, 4, 5].filter((k) => rows.some((row) => row[k]))];
  download("labels.csv", csv([header, ...rows].map((row) => used.map((k) => row[k]))));
  tell(`${count(rows.length, "row", "rows")} saved as labels.csv`);
}
