// The live dot: says whether the page hears from the server, and since when it
// does not. The stream itself is htmx's; a first connection that fails is tried
// again here, since the extension only resumes one that stood.
const stream = document.getElementById("live");
const dot = document.getElementById("live-dot");
const text = document.getElementById("live-text");
let retry = 1000;
let timer = 0;
let since = 0;

function show(state, words) {
  if (dot.dataset.state === state && state !== "off") return;
  dot.dataset.state = state;
  text.textContent = words;
}

function online() {
  retry = 1000;
  since = 0;
  show("on", "live");
}

function offline() {
  since ||= Date.now();
  const at = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" }).format(since);
  show("off", `offline since ${at}`);
}

function again(status) {
  if (status === 401 || status === 403) {
    show("off", "signed out");
    return;
  }
  offline();
  clearTimeout(timer);
  timer = setTimeout(() => stream.dispatchEvent(new CustomEvent("countersign:connect")), retry);
  retry = Math.min(retry * 2, 60000);
}

if (stream && dot && text) {
  let standing = false;
  stream.addEventListener("htmx:sse:after:connection", (event) => {
    const status = event.detail?.connection?.status ?? 200;
    standing = status < 400;
    if (standing) online();
  });
  stream.addEventListener("htmx:sse:error", (event) => {
    if (event.detail?.status === 401) show("off", "signed out");
    else if (!document.hidden) offline();
  });
  stream.addEventListener("htmx:sse:close", () => {
    if (!standing) return;
    standing = false;
    again();
  });
  stream.addEventListener("htmx:response:error", (event) => again(event.detail?.ctx?.response?.status));
  stream.addEventListener("htmx:error", () => { if (!standing) again(); });
}
