// Owns the table: everything the map shows, to read and to sort.
const PAGE = 50;
/** @type {{ column: number, down: boolean, page: number, order: number[] | null }} */
const sorting = { column: -1, down: false, page: 0, order: null };
const collator = new Intl.Collator(undefined, { numeric: true });
const columns = [
  {
    name: "Selected",
    number: true,
    value: (i) => Number(selection.has(i)),
    show: (i) =>
      make("input", {
        type: "checkbox",
        "aria-label": `Select ${short(titleOf(i), 80)}`,
        "data-key": `tick-${i}`,
        checked: selection.has(i),
        onchange: () => {
          const tab = tabs.find((each) => !each.content.hidden).key;
          choose(selection.has(i) ? [...selection].filter((j) => j !== i) : [...selection, i]);
          openTab(tab);
        },
      }),
  },
  { name: "Node", value: (i) => titleOf(i), show: (i) => link(i, null) },
  ...(page.titles ? [{ name: "Id", value: (i) => page.ids[i] }] : []),
  ...(page.texts ? [{ name: "Text", value: textOf, show: (i) => shortText(i) ?? "" }] : []),
  { name: "Label", value: (i) => labelsOf(i).join(", ") },
  ...(page.truth ? [{ name: "True label", value: (i) => listed(truthOf(i), page.truth) }] : []),
  ...(byKey.predicted
    ? [{ name: byKey.predicted.name, value: (i) => named(byKey.predicted, i) }]
    : []),
  ...(probability === null
    ? []
    : [
        {
          name: "Probability of a missing class",
          number: true,
          value: (i) => chance(i) ?? -1,
          show: (i) => (chance(i) === null ? "" : percent(chance(i))),
        },
      ]),
  ...(byKey.group ? [{ name: "Candidate class", value: (i) => named(byKey.group, i) }] : []),
  ...(page.edges
    ? [{ name: "Neighbours", number: true, value: (i) => neighboursOf(i).length }]
    : []),
];

function sortedNodes() {
  let shown = sorting.order;
  if (shown === null) {
    shown = [...Array(n).keys()].filter(isShown);
    if (sorting.column >= 0) {
      const { value, number } = columns[sorting.column],
        keys = Array.from({ length: n }, (_, i) => value(i)),
        sign = sorting.down ? -1 : 1;
      // Empty cells come last whichever way it is sorted.
      const compare = number
        ? (a, b) => sign * (keys[a] - keys[b])
        : (a, b) =>
            Number(keys[a] === "") - Number(keys[b] === "") ||
            sign * collator.compare(keys[a], keys[b]);
      shown.sort((a, b) => compare(a, b) || a - b);
    }
    sorting.order = shown;
  }
  return shown;
}

function sortBy(column) {
  const first = columns[column].number === true;
  Object.assign(sorting, {
    down: sorting.column === column ? !sorting.down : first,
    column,
    page: 0,
    order: null,
  });
  fillTable();
  byId(`sort-${column}`).focus();
  say(`Sorted by ${columns[column].name}, ${sorting.down ? "descending" : "ascending"}`);
}

function fillTable() {
  if (byId("table-view").hidden) return;
  const order = sortedNodes(),
    pages = Math.max(1, Math.ceil(order.length / PAGE));
  sorting.page = Math.min(sorting.page, pages - 1);
  const rows = order.slice(sorting.page * PAGE, (sorting.page + 1) * PAGE);
  const head = columns.map((column, k) => {
    const sorted = sorting.column === k;
    return make(
      "th",
      {
        scope: "col",
        class: column.number ? "number" : null,
        "aria-sort": sorted ? (sorting.down ? "descending" : "ascending") : null,
      },
      make(
        "button",
        { type: "button", id: `sort-${k}`, onclick: () => sortBy(k) },
        `${column.name}${sorted ? (sorting.down ? " ↓" : " ↑") : ""}`,
      ),
    );
  });
  const body = rows.map((i) =>
    make(
      "tr",
      {},
      ...columns.map((column) =>
        make(
          "td",
          { class: column.number ? "number" : null },
          column.show ? column.show(i) : String(column.value(i)),
        ),
      ),
    ),
  );
  const left = n - order.length;
  const turn = (name, to, off) =>
    make(
      "button",
      {
        type: "button",
        disabled: off,
        onclick: () => {
          sorting.page = to;
          fillTable();
          byId("table-view").querySelector(".scroll").scrollTop = 0;
        },
      },
      name,
    );
  fill(
    byId("table-view"),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of nodes" },
      make(
        "table",
        {},
        make("caption", { class: "away" }, "All nodes"),
        make("thead", {}, make("tr", {}, ...head)),
        make("tbody", {}, ...body),
      ),
    ),
    make(
      "div",
      { class: "pager" },
      button("Select these rows", () => choose(rows, { add: true }), { id: "select-rows" }),
      turn("Previous", sorting.page - 1, sorting.page === 0),
      make("span", { id: "pages" }, `Page ${sorting.page + 1} of ${pages}`),
      turn("Next", sorting.page + 1, sorting.page >= pages - 1),
      make(
        "span",
        { class: "soft small" },
        count(order.length, "node", "nodes") +
          (left ? `; ${left.toLocaleString("en")} switched off in the legend` : ""),
      ),
    ),
  );
}
