// Hearing from the server. htmx holds the stream; this script decides when it may, and shows whether it is connected.
//
// Over HTTP/1.1 a browser has six connections to a server for all its tabs, and an open stream takes one for good. So
// at most three tabs of a browser hold a stream, by locks that end with their tab, and pass on the topics they get;
// the others also refetch now and then, for a stream carries only the topics of its own tab. A tab that goes to the
// background gives its lock back.
const SLOTS = 3;
const LOOK = 10000;
const SETTLES = 500; // until a page that was left has given its lock back: one that still has it is thrown away

// The server says something every two seconds. After three of silence it is asked
// whether it is there, and before five have passed the page says that it is not.
const QUIET = 2800;
const SILENT = 4600;

const stream = document.getElementById("live");
const dot = document.getElementById("live-dot");
const text = document.getElementById("live-text");
let retry = 1000;
let timer = 0;
let since = 0;
let release = null; // gives the slot back while this tab has one
let asking = null; // ends the wait for a slot
let looking = 0;
let heard = performance.now(); // when the server was heard last
let asked = false; // whether it is being asked
let out = false; // signed out
let connected = false; // whether this tab's stream is open
let away = false; // somebody has left this page

function show(state, words) {
  if (dot.dataset.state === state && state !== "off") return;
  dot.dataset.state = state;
  text.textContent = words;
}

function online() {
  if (out || !navigator.onLine) return;
  retry = 1000;
  since = 0;
  show("on", "live");
}

function hear() {
  heard = performance.now();
  if (since && connected) online();
}

function signedOut() {
  if (!out) stream.dispatchEvent(new CustomEvent("countersign:ask-sign-in", { bubbles: true }));
  out = true;
  show("off", "signed out");
}

function offline() {
  if (out) return;
  since ||= Date.now();
  const at = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" }).format(since);
  show("off", `offline since ${at}`);
}

function connect() {
  stream.dispatchEvent(new CustomEvent("countersign:connect"));
}

function again(status) {
  if (status === 401 || status === 403) return signedOut();
  if (out) return;
  offline();
  clearTimeout(timer);
  timer = setTimeout(() => { if (release || !navigator.locks) connect(); }, retry);
  retry = Math.min(retry * 2, 60000);
}

function tell(topic) {
  stream.dispatchEvent(new CustomEvent(topic, { bubbles: true }));
}

// What this page wants to know of, for when it looks itself.
function topics() {
  const watched = new URL(stream.getAttribute("hx-sse:connect"), location.href).searchParams;
  const names = ["approval", "conversation"].flatMap((name) => watched.getAll(name).map((id) => `${name}:${id}`));
  const shown = [...document.querySelectorAll("[data-card]")].map((card) => `approval:${card.dataset.card}`);
  const all = new Set(["inbox", "policy", ...names, ...shown]);
  for (const name of [...all]) if (name.startsWith("approval:")) all.add(name.replace("approval", "presence"));
  return [...all];
}

function heardOf(topic) {
  hear();
  if (topic !== "beat") tell(topic);
}

// ask checks whether the server answers at all, for a quiet stream may only be slow.
async function ask() {
  if (asked) return;
  asked = true;
  try {
    const icon = document.querySelector("link[rel=icon]").dataset.waiting;
    await fetch(icon, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(SILENT) });
    heard = performance.now();
    if (since) (connected || !release ? online : connect)();
  } catch {
    offline();
  } finally {
    asked = false;
  }
}

function listen() {
  const quiet = performance.now() - heard;
  if (quiet > SILENT && !since) offline();
  if (quiet > QUIET) ask();
}

// hold keeps a slot until the tab is hidden or closed, and streams meanwhile.
function hold() {
  clearInterval(looking);
  const done = new Promise((resolve) => { release = resolve; });
  connect();
  return done;
}

async function seek() {
  if (away || document.hidden || release || asking) return;
  for (let n = 0; n < SLOTS; n++) {
    const got = await new Promise((resolve) => {
      navigator.locks.request(`countersign:stream:${n}`, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        return lock && !document.hidden && !release ? hold() : null;
      });
    });
    if (got) return;
  }
  // All slots are taken: hear from the tabs that have one, and wait in line.
  online();
  clearInterval(looking);
  looking = setInterval(() => topics().forEach(tell), LOOK);
  asking = new AbortController();
  const place = Math.floor(Math.random() * SLOTS);
  navigator.locks.request(`countersign:stream:${place}`, { signal: asking.signal }, () => {
    asking = null;
    return document.hidden ? null : hold();
  }).catch(() => {});
}

function leave() {
  clearInterval(looking);
  asking?.abort();
  asking = null;
  release?.();
  release = null;
}

if (stream && dot && text) {
  let connection = null;
  stream.addEventListener("htmx:sse:before:connection", (event) => {
    if (navigator.locks && !release) event.preventDefault(); // htmx reconnects without help; the slot comes first
  });
  stream.addEventListener("htmx:sse:after:connection", (event) => {
    const status = event.detail?.connection?.status ?? 200;
    connected = status < 400;
    connection = event.detail?.connection;
    heard = performance.now();
    if (connected) online();
  });
  stream.addEventListener("htmx:sse:after:message", (event) => {
    const topic = event.detail?.message?.event;
    hear();
    if (topic) document.dispatchEvent(new CustomEvent("countersign:broadcast", { detail: { name: "live", data: topic } }));
  });
  stream.addEventListener("htmx:sse:error", (event) => {
    connected = false;
    connection = event.detail?.connection;
    if (event.detail?.status === 401) signedOut();
    else if (!document.hidden) offline();
  });
  stream.addEventListener("htmx:sse:close", () => {
    if (!connected) return;
    connected = false;
    if (release) again();
  });
  stream.addEventListener("htmx:response:error", (event) => again(event.detail?.ctx?.response?.status));
  stream.addEventListener("htmx:error", () => { if (!connected) again(); });
  document.addEventListener("countersign:heard:live", (event) => { if (!release && !document.hidden) heardOf(event.detail); });

  const listening = () => !document.hidden && !out && (connected || !release);
  setInterval(() => { if (listening()) listen(); }, 250);
  document.addEventListener("visibilitychange", () => { heard = performance.now(); });
  window.addEventListener("offline", offline);
  window.addEventListener("online", () => {
    connection?.delayCanceller?.(); // the next try is now
    ask();
  });
  document.addEventListener("countersign:expired", () => { out = true; show("off", "signed out"); });
  document.addEventListener("countersign:look", () => { // somebody has come back to this page
    setTimeout(() => {
      away = false;
      (navigator.locks ? seek : connect)();
    }, SETTLES);
    topics().forEach(tell);
  });
  document.addEventListener("countersign:signed-in", () => {
    out = false;
    heard = performance.now();
    connection?.delayCanceller?.();
    if (connected || !release && navigator.locks) online();
    else connect();
    topics().forEach(tell); // this page has missed the topics since
  });

  if (navigator.locks) {
    document.addEventListener("visibilitychange", () => (document.hidden ? leave() : seek()));
    window.addEventListener("pagehide", () => { away = true; leave(); });
    window.addEventListener("pageshow", (event) => { if (!event.persisted) seek(); }); // when htmx is ready too
  } else {
    window.addEventListener("pageshow", (event) => { if (!event.persisted) connect(); }); // neither https nor this machine: no locks there
  }
}
