// Hearing from the server. htmx holds the stream; this decides when it may, and
// tells whether it stands.
//
// Over HTTP/1.1 a browser has six connections to a server for all its tabs, and
// an open stream takes one for good. So at most three tabs of a browser hold a
// stream, by locks that end with their tab, and pass on what they hear; the
// others also look for themselves now and then, for a stream tells only what its
// own tab watches. A tab that goes to the background gives its lock back.
const SLOTS = 3;
const LOOK = 10000;

const stream = document.getElementById("live");
const dot = document.getElementById("live-dot");
const text = document.getElementById("live-text");
const channel = "BroadcastChannel" in window ? new BroadcastChannel("countersign:live") : null;
let retry = 1000;
let timer = 0;
let since = 0;
let release = null; // gives the slot back while this tab has one
let asking = null; // ends the wait for a slot
let looking = 0;

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

function connect() {
  stream.dispatchEvent(new CustomEvent("countersign:connect"));
}

function again(status) {
  if (status === 401 || status === 403) {
    show("off", "signed out");
    return;
  }
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
  return [...new Set(["inbox", "policy", ...names, ...shown])];
}

// hold keeps a slot until the tab is hidden or closed, and streams meanwhile.
function hold() {
  clearInterval(looking);
  const done = new Promise((resolve) => { release = resolve; });
  connect();
  return done;
}

async function seek() {
  if (document.hidden || release || asking) return;
  for (let n = 0; n < SLOTS; n++) {
    const got = await new Promise((resolve) => {
      navigator.locks.request(`countersign:stream:${n}`, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        return lock && !document.hidden && !release ? hold() : null;
      });
    });
    if (got) return;
  }
  // All are taken: hear of it from those who have one, and stand in line.
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
  let standing = false;
  stream.addEventListener("htmx:sse:before:connection", (event) => {
    if (navigator.locks && !release) event.preventDefault(); // htmx comes back by itself; the slot comes first
  });
  stream.addEventListener("htmx:sse:after:connection", (event) => {
    const status = event.detail?.connection?.status ?? 200;
    standing = status < 400;
    if (standing) online();
  });
  stream.addEventListener("htmx:sse:after:message", (event) => {
    const topic = event.detail?.message?.event;
    if (topic) channel?.postMessage(topic);
  });
  stream.addEventListener("htmx:sse:error", (event) => {
    if (event.detail?.status === 401) show("off", "signed out");
    else if (!document.hidden) offline();
  });
  stream.addEventListener("htmx:sse:close", () => {
    if (!standing) return;
    standing = false;
    if (release) again();
  });
  stream.addEventListener("htmx:response:error", (event) => again(event.detail?.ctx?.response?.status));
  stream.addEventListener("htmx:error", () => { if (!standing) again(); });
  channel?.addEventListener("message", (event) => { if (!release && !document.hidden) tell(event.data); });

  if (navigator.locks) {
    document.addEventListener("visibilitychange", () => (document.hidden ? leave() : seek()));
    window.addEventListener("pagehide", leave);
    window.addEventListener("pageshow", seek); // when htmx is ready too
  } else {
    window.addEventListener("pageshow", connect); // neither https nor this machine: no locks there
  }
}
