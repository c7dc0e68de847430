// The inbox and the request beside it: which row is selected, that the pane shows
// that one and no other, and where a person is after a decision.
const desk = document.querySelector("[data-desk]");
const tell = (name, text) => document.dispatchEvent(new CustomEvent(`countersign:${name}`, { detail: text }));

const rows = () => [...document.querySelectorAll("#inbox li[data-id]:not([data-gone])")];
const row = (id) => document.getElementById(`row-${id}`);
const selected = () => document.querySelector("#inbox li[aria-current=true]"); // a row, or a closed group
const card = () => document.querySelector("#detail article[data-card]");
const pane = () => document.getElementById("detail");
const roomy = () => pane()?.checkVisibility() ?? false; // a phone shows the list only

function mark(chosen) {
  for (const other of document.querySelectorAll("#inbox li[aria-current]")) {
    if (other !== chosen) other.removeAttribute("aria-current");
  }
  chosen?.setAttribute("aria-current", "true");
  const group = chosen?.matches("[data-id]") ? groupOf(chosen) : null;
  if (group) group.open = true;
}

const groupOf = (li) => li.closest("[data-group] details");
const headOf = (li) => li.querySelector("summary");

// chooseGroup selects a closed group: the keys that decide then say that it has to be opened.
function chooseGroup(group) {
  mark(group);
  headOf(group).focus({ preventScroll: true });
  group.scrollIntoView({ block: "nearest" });
}

// choose shows a row's request, and takes the focus along.
function choose(chosen) {
  if (chosen?.matches("[data-group]")) return chooseGroup(chosen);
  const link = chosen?.querySelector(".row-link");
  if (!link) return;
  if (roomy() && card()?.dataset.card !== chosen.dataset.id) link.click();
  mark(chosen);
  link.focus({ preventScroll: true });
  chosen.scrollIntoView({ block: "nearest" });
}

// step is the row after or before the selected one, which may have left the list. A group
// that is closed is one step.
function step(by) {
  const all = [...document.querySelectorAll("#inbox li[data-id], #inbox li[data-group]")].filter((li) => (
    li.matches("[data-group]") ? !li.querySelector("details").open : !groupOf(li) || groupOf(li).open
  ));
  const now = selected();
  const at = now && all.indexOf(all.includes(now) ? now : now.closest("[data-group]"));
  if (at === null || at < 0) {
    const first = now?.matches("[data-group]") ? now.querySelector("li[data-id]:not([data-gone])") : null; // it is open now
    return first && by > 0 ? first : first ? before(all, first) : all.find((li) => !li.hasAttribute("data-gone"));
  }
  for (let n = at + by; n >= 0 && n < all.length; n += by) {
    if (!all[n].hasAttribute("data-gone")) return all[n];
  }
  return now;
}

const before = (all, li) => all.slice(0, all.indexOf(li)).findLast((other) => !other.hasAttribute("data-gone")) ?? li;

// toggle opens the group that is selected, or closes the one that the selected row is in.
function toggle() {
  const now = selected();
  const details = now?.querySelector(":scope > details") ?? (now && groupOf(now));
  if (!details) return tell("hint", "There is no group here.");
  details.open = !details.open;
  if (!details.open) chooseGroup(details.closest("[data-group]"));
}

// Elsewhere the keys go from one line of a list to the next.
function walk(by) {
  const links = [...document.querySelectorAll("#main .row-link")].filter((link) => link.checkVisibility());
  const next = links[links.indexOf(document.activeElement) + by] ?? links[by > 0 ? links.length - 1 : 0];
  next?.focus();
}

document.addEventListener("countersign:go", (event) => {
  const where = event.detail;
  if (where === "open") {
    const url = selected()?.dataset.url;
    if (selected()?.matches("[data-group]")) toggle();
    else if (url) location.assign(url);
  } else if (where === "group") {
    toggle();
  } else if (where.id) {
    choose(row(where.id));
  } else if (where === "newest") {
    const newest = rows().reduce((a, b) => (a && a.dataset.id > b.dataset.id ? a : b), null); // ids begin with their time
    choose(newest);
  } else if (desk) {
    choose(step(where));
  } else {
    walk(where);
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("#inbox .row-link");
  if (!desk || !link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (roomy()) mark(link.closest("li"));
  else event.stopPropagation(); // the link leads to a page of its own, from which there is a way back
}, true);

// Text typed beside one request comes back when a person returns to that request.
const drafts = new Map();
const fields = (form) => [...form.querySelectorAll("textarea[name], [data-edits] :is(input, select)[name]")];
const first = (field) => (field instanceof HTMLSelectElement ? ([...field.options].find((o) => o.defaultSelected) ?? field.options[0])?.value : field.defaultValue);

function keep(from) {
  const typed = fields(from).filter((field) => field.id && field.value !== first(field)).map((field) => [field.id, field.value]);
  if (typed.length && !from.hasAttribute("data-settled")) drafts.set(from.dataset.card, typed);
  else drafts.delete(from.dataset.card);
}

function restore(to) {
  for (const [id, value] of drafts.get(to.dataset.card) ?? []) {
    const field = document.getElementById(id);
    if (field && fields(to).includes(field)) field.value = value;
  }
  tell("restored");
}

// The verdict that is on its way.
let sent = null;

const done = { approve: "Approved.", reject: "Rejected.", answer: "Answered." };

document.addEventListener("submit", (event) => {
  const from = event.target.closest("#detail article[data-card]");
  const verdict = event.submitter?.name === "verdict" ? event.submitter.value : event.target.querySelector("[name=verdict]")?.value;
  if (from && verdict && !event.defaultPrevented) sent = { id: from.dataset.card, verdict };
  if (from && sent) drafts.delete(from.dataset.card);
}, true);

// The row as the server sees it, without the ticking of its times.
function face(li) {
  const copy = li?.cloneNode(true);
  for (const time of copy?.querySelectorAll("time") ?? []) time.textContent = "";
  return copy?.textContent + [...copy?.querySelectorAll("time") ?? []].map((time) => time.dateTime).join();
}

let shown = card()?.dataset.card ?? "";
let shownFace = row(shown) ? face(row(shown)) : null;

// Whether its agent waits is asked for now and then where the stream does not watch it.
const watched = shown;
setInterval(() => {
  const id = card()?.dataset.card;
  if (id && id !== watched && !document.hidden) document.body.dispatchEvent(new CustomEvent(`presence:${id}`));
}, 10000);

// A request that is not watched by this page's stream is looked at again when its
// row changes or leaves.
function follow(list) {
  if (!shown) return;
  const fresh = list.querySelector(`[id="row-${CSS.escape(shown)}"]`);
  const now = fresh && !fresh.hasAttribute("data-gone") ? face(fresh) : "";
  if (shownFace !== null && now !== shownFace && !card()?.hasAttribute("data-settled")) {
    const topic = `approval:${shown}`;
    queueMicrotask(() => document.body.dispatchEvent(new CustomEvent(topic)));
  }
  shownFace = now;
}

document.addEventListener("htmx:before:swap", (event) => {
  if (!desk) return;
  const { ctx, tasks } = event.detail;
  const asked = ctx.sourceElement?.closest?.("#inbox li[data-id]");
  const source = ctx.sourceElement;
  if (asked && source.matches(".row-link") && selected() !== asked) { // a later choice has overtaken it
    event.preventDefault();
    return;
  }
  const before = card();
  for (const task of [...tasks]) {
    const list = task.fragment.querySelector?.("#inbox") ?? (task.target?.id === "inbox" ? task.fragment : null);
    if (list) {
      for (const other of list.querySelectorAll("li[aria-current]")) other.removeAttribute("aria-current");
      const chosen = selected();
      const left = !chosen || chosen.hasAttribute("data-gone");
      const id = chosen?.matches("[data-group]") ? chosen.id : `row-${left ? shown : chosen.dataset.id}`;
      list.querySelector(`[id="${CSS.escape(id)}"]`)?.setAttribute("aria-current", "true");
      follow(list);
    }
    const next = task.fragment.querySelector?.("article[data-card]");
    if (!next || !before || next.dataset.card === before.dataset.card) continue;
    // The next request opens only if the reader is still at the one they decided.
    const left = sent && selected() && selected().dataset.id !== sent.id && !asked;
    if (left) tasks.splice(tasks.indexOf(task), 1);
    else keep(before);
  }
});

document.addEventListener("htmx:after:swap", (event) => {
  const now = card();
  if (!desk || !now) return;
  const id = now.dataset.card;
  // The card may look for itself before the answer comes, which alone brings the count.
  const was = event.detail.ctx?.request?.method === "POST" ? sent : null;
  if (was && (id !== was.id || now.hasAttribute("data-settled"))) {
    sent = null;
    outcome(was);
    arrive(now);
  }
  if (id === shown) return;
  shown = id;
  shownFace = row(id) ? face(row(id)) : null;
  restore(now);
  pane().scrollTop = 0;
  const overtaken = event.target.matches?.("#inbox .row-link") && selected() && selected().dataset.id !== id;
  if (row(id) && !overtaken) mark(row(id));
  if (!overtaken) row(id)?.scrollIntoView({ block: "nearest" });
  const place = new URL(location.href);
  place.searchParams.set("open", id);
  history.replaceState(history.state, "", place);
});

// The first request of an empty inbox opens beside the list, if there is room for both, but not while somebody writes,
// has a dialog open or has a token on the page that is shown once. The focus does not move. For a moment after it has
// appeared nothing decides it (misfire.js).
const wide = matchMedia("(min-width: 64rem)");
const busy = () => document.querySelector("dialog[open], #detail .secret") !== null ||
  (document.activeElement?.matches("textarea, select, input, [contenteditable]") ?? false);
let empty = false;

document.addEventListener("htmx:before:swap", (event) => {
  if (desk && event.detail.ctx.sourceElement?.id === "inbox") empty = rows().length === 0;
});

document.addEventListener("htmx:after:swap", (event) => {
  if (!desk || !empty || event.detail.ctx?.sourceElement?.id !== "inbox") return;
  empty = false;
  const [first] = rows();
  if (!first || card() || !wide.matches || busy()) return;
  const focus = document.activeElement;
  first.querySelector(".row-link").click();
  if (!focus || focus === document.body || document.getElementById("main")?.contains(focus)) return;
  document.addEventListener("htmx:finally:request", () => {
    if (focus.isConnected && pane()?.contains(document.activeElement)) focus.focus({ preventScroll: true });
  }, { once: true });
});

// The pane is swapped while keys still work: an answer may find that an earlier one has taken its place. Then the
// selected request is fetched again.
const asking = new Set();
let again = 0;

document.addEventListener("htmx:before:request", (event) => {
  if (event.target.matches?.("#inbox .row-link")) asking.add(event.detail.ctx);
});

document.addEventListener("htmx:finally:request", (event) => {
  const ctx = event.detail?.ctx;
  if (ctx?.request?.method === "POST") sent = null;
  if (!asking.delete(ctx) || asking.size || !roomy()) return;
  const chosen = selected();
  if (!chosen || chosen.dataset.id === card()?.dataset.card) again = 0;
  else if (again++ < 2) chosen.querySelector(".row-link")?.click();
});

// The next request is shown from its top, and the focus goes to its heading, where only the keys of the desk work:
// they check which request is shown.
function arrive(now) {
  const title = now.querySelector("#approval-title");
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  if (pane()) pane().scrollTop = 0;
  scrollTo(0, 0);
}

// On its own page it is the same request, with its outcome.
document.addEventListener("htmx:after:swap", (event) => {
  const { ctx } = event.detail;
  if (desk || ctx?.request?.method !== "POST" || !ctx.request.action.includes("/decide")) return;
  const now = document.querySelector("article[data-card]:not([data-kept])");
  if (now && !now.querySelector("form[data-verdict]")) arrive(now);
});

// What became of it is said here, where no refetch takes it away before it is read.
function outcome({ id, verdict }) {
  const told = document.querySelector("[data-inbox-said]");
  const line = row(id)?.querySelector("[data-gone-text]");
  const text = told?.textContent.trim() || line?.textContent.trim() || done[verdict] || "Sent.";
  if (told) told.textContent = "";
  const count = document.querySelector("#inbox-count [data-count]")?.dataset.count ?? "";
  const rest = !count || count === "0" ? "Nothing else is waiting." : `${count} still waiting.`;
  tell("say", `${text.replace(/[.\s]*$/, ".")} ${rest}`);
}
