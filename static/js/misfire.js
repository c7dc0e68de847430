// A key or a click that was meant for the previous content decides nothing: for a third of a second after a request
// has appeared or changed, until its top has been in view for as long, and while the request on the page is not the
// selected one. A hint says so. Changes to other requests block nothing.
const WAIT = 350;
const root = document.documentElement;
const hint = (text) => document.dispatchEvent(new CustomEvent("countersign:hint", { detail: text }));

const cards = () => [...document.querySelectorAll("article[data-card]")];

// place is where the row of a request is: whether it waits there, in which group, and
// whether it is the one selected. Its neighbours are no part of it.
function place(id) {
  const row = document.getElementById(`row-${id}`);
  if (!row || row.hasAttribute("data-gone")) return "";
  return [row.closest("[data-group]")?.id ?? "alone", row.getAttribute("aria-current") ?? ""].join(" ");
}

// scene is what a decision is made on: the open request and its row's place.
const scene = () => cards()
  .map((card) => [card.dataset.card, card.dataset.digest, card.dataset.state, card.hasAttribute("data-settled"), place(card.dataset.card)].join(" "))
  .join("\n");

let known = null;
// The form that is on its way.
let sent = null;

function moved() {
  const at = String(performance.now());
  root.dataset.shifted = at;
  // When it can be seen.
  requestAnimationFrame(() => {
    if (root.dataset.shifted === at) root.dataset.shifted = String(performance.now());
  });
}

// The top of the one request on a page must have been in view: nothing is decided
// on a page that slid in under the thumb.

// The title that is watched, with what it names.
let top = null;
let name = "";
let timer = 0;
// The one whose top has been in view.
let lookedAt = "";

const seen = new IntersectionObserver((entries) => {
  const inView = entries.at(-1).isIntersecting;
  clearTimeout(timer);
  if (inView) timer = setTimeout(() => { lookedAt = name; delete root.dataset.unseen; seen.disconnect(); }, WAIT);
}, { threshold: 0.6 });

const nameOf = (card) => card.dataset.card + card.dataset.digest;

function watch() {
  const all = cards();
  // Whether it shows is not asked again at each change of the page, for which all of it is laid out.
  if (top?.isConnected && all.length === 1 && nameOf(all[0]) === name) return;
  const shown = all.filter((card) => card.checkVisibility());
  const card = shown.length === 1 && shown[0].querySelector("form[data-verdict]") ? shown[0] : null;
  const title = card?.querySelector("#approval-title") ?? null;
  const now = card ? nameOf(card) : "";
  if (title === top && now === name) return;
  top = title;
  name = now;
  // A redrawn card may be gone for a moment.
  if (shown.length && now !== lookedAt) lookedAt = "";
  clearTimeout(timer);
  seen.disconnect();
  delete root.dataset.unseen;
  if (!title || now === lookedAt) return;
  root.dataset.unseen = "";
  seen.observe(title);
}

function look() {
  watch();
  const now = scene();
  if (now === known) return;
  known = now;
  moved();
}

// early says why it is too early to decide; empty: it is not.
function early(at) {
  if (at - Number(root.dataset.shifted ?? 0) < WAIT) return "Wait: this request just appeared.";
  if (root.dataset.unseen === undefined) return "";
  top?.scrollIntoView({ block: "center" });
  return "Look at the top of this request first.";
}

const pathOf = (form) => new URL(form.getAttribute("action") ?? "", location.href).pathname;

// A decision is a form with a verdict or an answer, on a request or on several.
const decides = (form) => pathOf(form).startsWith("/approvals/") && form.querySelector("[name=verdict], [name=option]") !== null;

// astray says why a form may not decide: it belongs to another request than the one shown or selected.
function astray(form) {
  const card = form.closest("[data-card]");
  if (!card) return "";
  const id = card.dataset.card;
  const selected = document.querySelector("#inbox li[aria-current=true]:not([data-gone])");
  if (selected?.matches("[data-group]")) return "A group is selected. Press o to open it, then choose a request.";
  if (selected && selected.dataset.id !== id) return "Wait: the request is still loading.";
  const digest = form.querySelector("input[name=digest]");
  if (!pathOf(form).startsWith(`/approvals/${id}`) || digest && card.dataset.digest && digest.value !== card.dataset.digest) {
    return "This form belongs to another request. Reload the page.";
  }
  return "";
}

// Keys ask before they press a button, with the time at which they were pressed.
document.addEventListener("countersign:decide", (event) => {
  const why = early(event.detail.at);
  if (!why) return;
  event.preventDefault();
  hint(why);
});

window.addEventListener("submit", (event) => {
  const form = event.target;
  if (!decides(form)) return;
  const why = early(event.timeStamp) || (sent === form ? "Already sent." : astray(form));
  if (!why) {
    sent = form;
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
  hint(why);
}, true);

document.addEventListener("htmx:finally:request", (event) => {
  if (event.target === sent || !sent?.isConnected) sent = null;
});
// To a button other than the one that was pressed.
document.addEventListener("countersign:led", moved);
document.addEventListener("countersign:unsent", () => { sent = null; });
window.addEventListener("pageshow", () => { sent = null; moved(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) moved(); });

look();
new MutationObserver(look).observe(document.getElementById("main") ?? document.body, {
  subtree: true, childList: true, attributes: true, attributeFilter: ["data-card", "data-digest", "data-state", "data-settled", "data-id", "data-gone", "aria-current"],
});
