// Owns the legend: a button for each category and each type of nodes.
function fillLegend() {
  const colouring = now(),
    legend = byId("legend"),
    focused = document.activeElement?.getAttribute("data-code");
  const all = (off) => {
    colouring.hidden = new Set(off ? colouring.categories.keys() : []);
    refresh();
  };
  const items = colouring.categories
    .map((of, code) => /** @type {[Category, number]} */ ([of, code]))
    .filter(([, code]) => colouring.counts[code])
    .sort(([a], [b]) => Number(!!b.caption) - Number(!!a.caption));
  legend.replaceChildren(
    ...items.map(([of, code]) =>
      make(
        "button",
        {
          type: "button",
          "aria-pressed": String(!colouring.hidden.has(code)),
          "data-code": String(code),
          onclick: () => {
            if (!colouring.hidden.delete(code)) colouring.hidden.add(code);
            refresh();
          },
        },
        swatch(of),
        make(
          "span",
          { class: "id" },
          short(of.caption ? `${of.name}: ${of.caption}` : of.name, 60),
        ),
        make("span", { class: "count" }, colouring.counts[code].toLocaleString("en")),
      ),
    ),
  );
  legend.prepend(
    ...typeButtons(),
    make("button", { type: "button", "data-code": "all", onclick: () => all(false) }, "All"),
    make("button", { type: "button", "data-code": "none", onclick: () => all(true) }, "None"),
  );
  if (focused !== undefined && focused !== null) {
    const again = [...legend.children].find((item) => item.dataset.code === focused);
    if (again) again.focus();
  }
}

/** A switch for each type of nodes. */
function typeButtons() {
  if (!page.types) return [];
  const counts = page.types.names.map(() => 0);
  for (const code of typeCodes) counts[code] += 1;
  return page.types.names.map((name, code) =>
    make(
      "button",
      {
        type: "button",
        class: "type",
        "aria-pressed": String(typesShown.has(code)),
        "data-code": `type-${code}`,
        onclick: () => {
          if (!typesShown.delete(code)) typesShown.add(code);
          refresh();
        },
      },
      make("span", { class: "id" }, name),
      make("span", { class: "count" }, counts[code].toLocaleString("en")),
    ),
  );
}
