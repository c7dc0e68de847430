// While no page of Countersign is in view, one of them listens for all: it keeps the counts in the titles true and, if
// the user wants it, shows how many requests wait, and nothing else of them.
const KEY = "countersign:notify";
const toggle = document.querySelector("[data-notify-switch]");
const note = document.querySelector("[data-notify-note]");
const able = "Notification" in window;

let wanted = false;
let last = null; // how many waited when it was looked at last
let stop = null;

function read() {
  try { wanted = localStorage.getItem(KEY) === "on"; } catch { wanted = false; }
  if (!toggle) return;
  toggle.disabled = !able;
  toggle.checked = wanted && able && Notification.permission === "granted";
  if (!able) explain("This browser doesn't support notifications.");
}

function explain(text) {
  if (!note) return;
  note.textContent = text;
  note.hidden = text === "";
}

// The browser asks for leave only when somebody turns this on.
async function choose() {
  const on = toggle.checked && await Notification.requestPermission() === "granted";
  explain(toggle.checked && !on ? "Your browser blocks notifications. Allow them for this site, then switch this on." : "");
  toggle.checked = on;
  wanted = on;
  try {
    if (on) localStorage.setItem(KEY, "on");
    else localStorage.removeItem(KEY);
  } catch { /* this visit only */ }
}

const pill = () => document.querySelector("#inbox-count [data-count]");
const number = (text) => Number.parseInt((text || "0").replace(/\D/g, ""), 10) || 0;

// write puts a count that was heard of into this page, whose title follows.
function write(count) {
  const place = pill();
  if (!place || place.dataset.count === count) return;
  place.dataset.count = count;
  if (place.firstChild?.nodeType === Node.TEXT_NODE) place.firstChild.data = count === "0" ? "" : count;
  else if (count !== "0") place.prepend(count);
  document.dispatchEvent(new CustomEvent("countersign:count"));
}

async function look() {
  const answer = await fetch("/", { cache: "no-store", headers: { "HX-Request": "true", "HX-Source": "span#inbox-count", "Cache-Control": "no-store" } }).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
  const count = parsed.querySelector("[data-count]")?.dataset.count;
  if (count === undefined) return;
  write(count);
  document.dispatchEvent(new CustomEvent("countersign:broadcast", { detail: { name: "count", data: count } }));
  const now = number(count);
  if (last !== null && now > last) await tell(now, count);
  last = now;
}

async function tell(n, count) {
  if (!wanted || !able || Notification.permission !== "granted" || await inView()) return;
  try {
    const shown = new Notification("Countersign", { body: n === 1 ? "1 request is waiting" : `${count} requests are waiting`, tag: "countersign:inbox" });
    shown.addEventListener("click", () => {
      window.focus();
      location.assign("/");
      shown.close();
    });
  } catch { /* a browser that shows them from a worker only */ }
}

// inView is whether any page of this site is being looked at.
async function inView() {
  if (!document.hidden) return true;
  const { held } = await navigator.locks.query();
  return held.some((lock) => lock.name === "countersign:seen");
}

function show() {
  stop?.();
  navigator.locks.request("countersign:seen", { mode: "shared" }, () => new Promise((resolve) => { stop = resolve; })).catch(() => {});
}

// listen holds the one stream for pages out of view until this one is seen again.
function listen() {
  stop?.();
  const leave = new AbortController();
  stop = () => leave.abort();
  navigator.locks.request("countersign:background", { signal: leave.signal }, () => new Promise((resolve) => {
    if (leave.signal.aborted) return resolve();
    last = number(pill()?.dataset.count);
    const stream = new EventSource("/events");
    stream.addEventListener("inbox", look);
    leave.signal.addEventListener("abort", () => {
      stream.close();
      resolve();
    });
  })).catch(() => {});
}

if (document.body.hasAttribute("data-keys")) {
  read();
  window.addEventListener("storage", (event) => { if (event.key === KEY) read(); });
  toggle?.addEventListener("change", choose);
  document.addEventListener("countersign:heard:count", (event) => { if (document.hidden) write(event.detail); });
  if (navigator.locks) {
    let away = false; // a page that was left is hidden too: a pending lock would keep the browser from caching it
    const settle = () => { if (!away) (document.hidden ? listen : show)(); };
    document.addEventListener("visibilitychange", settle);
    window.addEventListener("pageshow", () => { away = false; settle(); });
    window.addEventListener("pagehide", () => { away = true; stop?.(); });
  }
}
