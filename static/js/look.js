// Who is at the desk is sent nothing elsewhere: a page, and a card that is in view, in a
// window that has the focus, is said to be looked at, if its reader did something within the
// last minute. Opening a page is doing something. Nothing but the card's id is sent.
const EVERY = 30000;
const ACTIVE = 60000;
const who = document.body.dataset.user ?? "";
const said = new Map(); // when each request was said to be looked at

let active = 0; // when the reader did something last
let timer = 0;

const looking = () => document.visibilityState === "visible" && document.hasFocus() && Date.now() - active < ACTIVE;

function inView(card) {
  const { top, bottom, width } = card.getBoundingClientRect();
  return width > 0 && bottom > 0 && top < window.innerHeight;
}

function send(id) {
  said.set(id, Date.now());
  said.set("", Date.now()); // who looks at a request is at the desk
  fetch(id ? `/approvals/${encodeURIComponent(id)}/look` : "/at-desk", { method: "POST", headers: { Accept: "application/json", "Countersign-User": who } }).catch(() => {});
}

function look() {
  clearTimeout(timer);
  timer = 0;
  if (!looking()) return;
  const cards = [...document.querySelectorAll("[data-card]:not([data-settled]), [data-look]")].filter(inView);
  for (const { dataset } of cards) {
    const id = dataset.card ?? dataset.look;
    if (Date.now() - (said.get(id) ?? 0) >= EVERY) send(id);
  }
  if (Date.now() - (said.get("") ?? 0) >= EVERY) send("");
  timer = setTimeout(look, EVERY); // activity until then counts too
}

function act() {
  active = Date.now();
  if (!timer) look();
}

// What somebody opens within the page is a card that was not there.
function opened() {
  if (looking()) look();
}

if (who) {
  for (const name of ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchstart"]) document.addEventListener(name, act, { passive: true, capture: true });
  for (const name of ["focus", "pageshow"]) window.addEventListener(name, act);
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") act(); });
  window.addEventListener("pagehide", () => { clearTimeout(timer); timer = 0; });
  document.addEventListener("htmx:after:swap", opened);
  act();
}
