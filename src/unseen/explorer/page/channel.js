// Owns the way to Python: the server that this page came from, or the notebook that shows it in a
// frame. A page from disk has neither.
const server = page.server ?? null;
const isFramed = server?.notebook === true;
const kernel = {
  /** @type {MessagePort | null} */
  port: null,
  /** @type {Map<string, { resolve: (state: State) => void, reject: (error: Error) => void }>} */
  waiting: new Map(),
  lost: false,
};

/** Ask for something and return the state after it. */
const ask = (name, body) => (isFramed ? askKernel(name, body) : askServer(name, body));

const askState = () =>
  isFramed
    ? askKernel("state", { revision: saved.revision, findings: saved.findings })
    : askServer(`state?revision=${saved.revision}&findings=${saved.findings}`);

async function askServer(name, body) {
  const reply = await fetch(
    name,
    body === undefined
      ? {}
      : {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        },
  ).catch(() => {
    throw new Error("the server does not answer; is `unseen label` still running?");
  });
  const content = await reply
    .json()
    .catch(() => ({ error: `the server answered ${reply.status}` }));
  if (!reply.ok) throw new Error(content.error ?? `the server answered ${reply.status}`);
  return content;
}

const LOST = "the kernel was restarted or closed; run the cell again";
const BUSY = "Waiting for the kernel, which may be busy with another cell";

/** @returns {Promise<State>} */
function askKernel(name, body) {
  if (kernel.lost || !kernel.port) return Promise.reject(new Error(LOST));
  const id = Math.random().toString(36).slice(2),
    notice = setTimeout(() => alarm(BUSY), 4000);
  kernel.port.postMessage({ id, name, body });
  return new Promise((resolve, reject) => kernel.waiting.set(id, { resolve, reject })).finally(
    () => {
      clearTimeout(notice);
      if (byId("alarm").textContent === BUSY) alarm("");
    },
  );
}

/**
 * Take a message of the notebook. A reply to another view of the same widget is news here.
 * @param {Notice} notice
 */
function hear({ id, state, error, selection, theme, lost }) {
  const waiting = id && kernel.waiting.get(id);
  if (waiting) {
    kernel.waiting.delete(id);
    if (state) waiting.resolve(state);
    else waiting.reject(new Error(error));
  } else if (state) follow(state);
  if (selection) takeSelection(selection);
  if (theme && theme !== themeName()) changeTheme(theme);
  if (lost) {
    kernel.lost = true;
    for (const { reject } of kernel.waiting.values()) reject(new Error(LOST));
    kernel.waiting.clear();
    alarm(capitalise(LOST));
  }
}

/** Tell the notebook what changed here. */
const report = (change) => kernel.port?.postMessage(change);

if (isFramed)
  window.addEventListener("message", ({ source, data, ports: [port] }) => {
    if (source !== window.parent || !port) return;
    for (const key of data.hints.split(".")) dismissed.add(key);
    fillPanels();
    kernel.port = port;
    port.onmessage = (event) => hear(event.data);
    hear(data);
    send("state", {});
  });

/** Look for answers of other windows, and for the end of an update. */
async function poll() {
  if (!document.hidden || saved.state?.update?.running) {
    try {
      follow(await askState());
      if (byId("alarm").textContent.startsWith("Lost")) alarm("");
    } catch (error) {
      alarm(`Lost the server: ${messageOf(error)}`);
    }
  }
  setTimeout(poll, saved.state?.update?.running ? 400 : 1500);
}
