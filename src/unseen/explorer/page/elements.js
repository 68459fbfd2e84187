// Owns the making of elements, and helpers for text and colour. Texts are never markup.
/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const id = (i) => make("span", { class: "id", title: page.titles ? idOf(i) : null }, titleOf(i));

/** The beginning of a node's text, or of what follows `from`; null where a node has no text. */
function shortText(i, from = 0) {
  const text = textOf(i);
  return text
    ? make(
        "span",
        { class: "excerpt", dir: "auto", title: text },
        short(`${from ? "…" : ""}${text.slice(from)}`, 200),
      )
    : null;
}

/** All of a node's text; it scrolls where it is long. */
const wholeText = (i) =>
  textOf(i)
    ? make(
        "div",
        { class: "text", dir: "auto", tabindex: "0", role: "group", "aria-label": "Text" },
        textOf(i),
      )
    : null;

function drawn(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const OUTLINES = {
  circle: "M7 1.5a5.5 5.5 0 1 0 .01 0z",
  triangle: "M7 1 13 12.5H1z",
  square: "M2 2h10v10H2z",
  diamond: "M7 .5 13.5 7 7 13.5.5 7z",
  plus: "M5 1h4v4h4v4H9v4H5V9H1V5h4z",
  cross: "M3.5 1 7 4.5 10.5 1 13 3.5 9.5 7l3.5 3.5-2.5 2.5L7 9.5 3.5 13 1 10.5 4.5 7 1 3.5z",
  ring: "M7 1a6 6 0 1 0 .01 0zM7 4a3 3 0 1 1-.01 0z",
};

/** A small picture of what a category looks like on the map. */
function swatch(of) {
  const path = drawn("path", {
    d: OUTLINES[page.shapes[of.shape]],
    fill: colourOf(of),
    "fill-rule": "evenodd",
  });
  return drawn("svg", { class: "swatch", viewBox: "0 0 14 14", "aria-hidden": "true" }, path);
}

const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
/** @returns {"light" | "dark"} */
const themeName = () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light");

/** A colour on its way to another, from 0 to 1. */
function mixed(from, to, share) {
  const [a, b] = [rgb(from), rgb(to)];
  return `#${a
    .map((v, k) =>
      Math.round(v + (b[k] - v) * share)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

function colourOf(of) {
  const palette = page.palette;
  if (of.quiet) return palette.quiet[themeName()];
  if (of.muted)
    return mixed(palette.classes[themeName()][of.colour], palette.map[themeName()], 0.5);
  return (of.step === undefined ? palette.classes : palette.steps)[themeName()][
    of.step === undefined ? of.colour : of.step
  ];
}

/** A button that leads to a node; `text` is null where its text is shown elsewhere. */
function link(i, text = page.titles ? null : shortText(i)) {
  return make(
    "button",
    { type: "button", class: "link", onclick: () => select(i, { move: true }) },
    swatch(category(now(), i)),
    id(i),
    text ?? "",
  );
}

const button = (text, onclick, more = {}) =>
  make("button", { type: "button", onclick, ...more }, text);

/** Replace the content of a panel and keep the focus. */
function fill(panel, ...children) {
  const held = panel.contains(document.activeElement) ? document.activeElement : null;
  const key = held && (held.id || held.getAttribute("data-key") || held.textContent);
  panel.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  if (!held) return;
  const again = [...panel.querySelectorAll("button, input, select")].find(
    (element) => (element.id || element.dataset.key || element.textContent) === key,
  );
  (again ?? panel).focus({ preventScroll: true });
}

const say = (text) => {
  byId("status").textContent = text;
};

function bar(share) {
  const inner = make("span");
  inner.style.width = `${Math.round(100 * share)}%`;
  return make("span", { class: "bar", "aria-hidden": "true" }, inner);
}

function tableOf(caption, header, rows, numeric) {
  const cell = (tag, k, content) =>
    make(
      tag,
      { class: numeric.includes(k) ? "number" : null, scope: tag === "th" ? "col" : null },
      content,
    );
  return make(
    "table",
    {},
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...header.map((text, k) => cell("th", k, text)))),
    make(
      "tbody",
      {},
      ...rows.map((row) => make("tr", {}, ...row.map((content, k) => cell("td", k, content)))),
    ),
  );
}
