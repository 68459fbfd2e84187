// Owns the frame around the page in a notebook (https://anywidget.dev): the page cannot reach the
// notebook but by messages, so that several widgets stay apart. BEFORE and AFTER are the page, cut
// where its content goes.
const HINTS_KEY = "unseen-hints";

const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

/** Whether the notebook is light or dark, by the first ancestor that has a background. */
function themeOf(element) {
  for (let at = element; pen && at; at = at.parentElement ?? at.getRootNode().host) {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = getComputedStyle(at).backgroundColor; // in any notation
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
    if (alpha > 127) return 0.3 * red + 0.6 * green + 0.1 * blue < 128 ? "dark" : "light";
  }
  return "light";
}

function storedHints() {
  try {
    return localStorage.getItem(HINTS_KEY) ?? "";
  } catch {
    return ""; // storage is switched off
  }
}

function storeHints(hints) {
  try {
    localStorage.setItem(HINTS_KEY, hints);
  } catch {}
}

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.title = "Map of the nodes";
  frame.style.cssText = "display: block; width: 100%; height: 640px; border: 0";
  frame.srcdoc = BEFORE + model.get("_content") + AFTER;
  /** @type {MessagePort | null} */
  let port = null;
  const tell = (message) => port?.postMessage(message);
  const take = ({ selection, hints, ...request }) => {
    if (hints !== undefined) storeHints(hints);
    if (selection !== undefined && !isSame(selection, model.get("selection"))) {
      model.set("selection", selection);
      model.save_changes();
    }
    if (request.name) model.send(request);
  };
  const pass = (message) => {
    tell(message);
    const revision = message.state?.revision;
    if (revision === undefined || revision === model.get("revision")) return;
    model.set("revision", revision); // marimo runs the cells again that read the answers
    model.save_changes();
  };
  const share = () => tell({ selection: model.get("selection") });
  const lose = () => tell({ lost: true });
  const dye = () => tell({ theme: themeOf(el) });
  // a frame that is moved in the document loads again
  frame.addEventListener("load", () => {
    const channel = new MessageChannel();
    port = channel.port1;
    port.onmessage = (event) => take(event.data);
    const start = { theme: themeOf(el), selection: model.get("selection"), hints: storedHints() };
    frame.contentWindow?.postMessage(start, "*", [channel.port2]);
  });
  model.on("msg:custom", pass);
  model.on("change:selection", share);
  model.on("comm_live_update", lose);
  // where the page is narrow, its panel is below the map
  const fit = new ResizeObserver(() => {
    frame.style.height = el.clientWidth > 820 ? "640px" : "900px";
  });
  fit.observe(el);
  const observer = new MutationObserver(dye);
  for (const element of [document.documentElement, document.body])
    observer.observe(element, { attributes: true });
  el.append(frame);
  return () => {
    model.off("msg:custom", pass);
    model.off("change:selection", share);
    model.off("comm_live_update", lose);
    observer.disconnect();
    fit.disconnect();
  };
}

export default { render };
