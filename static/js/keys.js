// Single keys. They act on the request that is shown, never on the focused element; never while somebody types, never
// with Ctrl, Meta or Alt; and they can be switched off. Each does the same as a click on the page.
const KEY = "countersign:keys";
const CHORD = 1500; // how long g waits for its second key
const dialog = document.getElementById("keys");
const toggle = document.querySelector("[data-keys-switch]");
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(`countersign:${name}`, { detail, cancelable: true }));
const hint = (text) => { tell("hint", text); };

let off = false;
let chord = -Infinity;

function read() {
  try { off = localStorage.getItem(KEY) === "off"; } catch { /* this visit only */ }
  if (toggle) toggle.checked = !off;
}

const card = () => [...document.querySelectorAll("article[data-card]")].find((one) => one.checkVisibility());
const act = (name, within = card()) => within?.querySelector(`[data-act=${name}]`);
const bulk = () => document.querySelector("[data-bulk-bar]");

function typing(element) {
  if (!(element instanceof HTMLElement)) return false;
  if (element.isContentEditable || element.matches("textarea, select")) return true;
  return element.matches("input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=reset])");
}

// open opens the sections around a field, and goes to it. A field in view and clear of the bar does not move.
function open(field) {
  for (let fold = field?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (!field) return;
  field.focus({ preventScroll: true });
  field.scrollIntoView({ block: "nearest" });
}

// press clicks a button that decides, unless the page has only just changed.
function press(button, at) {
  if (button.disabled || button.getAttribute("aria-disabled") === "true") {
    const why = document.getElementById(button.getAttribute("aria-describedby") ?? "");
    hint(why?.textContent.trim() || "You can't do this now.");
  } else if (tell("decide", { at })) {
    button.click();
  }
}

function approve(at) {
  const shown = card();
  if (!shown) return hint("No request is open. Press j to go to one.");
  if (shown.hasAttribute("data-settled")) return hint("This request is already decided.");
  const button = shown.querySelector("form [data-act=approve-edited]:not([hidden], .unscripted *)") ?? act("approve");
  if (button) press(button, at);
  else if (act("undo")) hint("Already approved. Press u to undo it before it is sent.");
  else if (shown.querySelector("[name=option]")) hint("Choose one of the answers.");
  else if (shown.querySelector("[name=answer]")) open(shown.querySelector("textarea[name=answer]"));
  else hint(shown.querySelector("[id$=no-approve]")?.textContent.trim() ?? "You can't decide this request.");
}

function reject(at) {
  const shown = card();
  if (!shown) return hint("No request is open. Press j to go to one.");
  if (shown.hasAttribute("data-settled")) return hint("This request is already decided.");
  const menu = shown.querySelector("[data-reject]");
  if (menu?.open) return press(act("reject"), at);
  if (menu) {
    menu.open = true; // reject.js goes to the reasons
    return;
  }
  const field = shown.querySelector("[data-presets]") ?? shown.querySelector("[data-act-reason]");
  if (!field) return hint("You can't decide this request.");
  open(field);
}

// digit chooses one of the answers, or of the reasons to reject where they are open.
function digit(n, at) {
  const shown = card();
  const reasons = [...shown?.querySelectorAll("[data-presets]") ?? []].find((group) => group.checkVisibility());
  if (reasons) {
    const choices = [...reasons.querySelectorAll("[name=preset]:not([data-preset-none])")];
    const none = reasons.querySelector("[data-preset-none]");
    (n ? choices[n - 1] : none)?.click();
    if (n === 0) open(none.form.querySelector("[data-act-reason]"));
    return;
  }
  const option = shown?.querySelectorAll("[data-act=option]")[n - 1];
  if (option) press(option, at);
}

function edit() {
  const opener = act("edit");
  if (!opener) return hint("There is nothing to edit.");
  const fold = opener.closest("details");
  if (!fold) return opener.click();
  fold.open = true;
  open(fold.querySelector("textarea, input:not([type=hidden]), select") ?? opener);
}

function undo() {
  const offers = [...document.querySelectorAll("#done [data-act=undo], [data-card] [data-act=undo], #inbox [data-act=undo]")].filter((offer) => offer.checkVisibility());
  const latest = (a, b) => (a && Date.parse(a.dataset.until) > Date.parse(b.dataset.until) ? a : b);
  const several = [...document.querySelectorAll("[data-several] [data-act=undo]")].find((offer) => offer.checkVisibility()); // the last decision
  const button = act("undo") ?? several ?? offers.reduce(latest, null);
  if (button) button.click();
  else hint("There is nothing to undo.");
}

// source opens the rest of the source, or hides it again.
function source() {
  const summary = act("source");
  if (!summary) return hint(card() ? "The whole source is shown." : "No request is open. Press j to go to one.");
  summary.click();
  summary.scrollIntoView({ block: "nearest" });
}

function several(verdict, at) {
  const bar = bulk();
  if (!bar || !Number(bar.dataset.count)) return hint("Nothing is selected. Press x to select the current request.");
  const reason = bar.querySelector("[data-act-reason], [name=reason]");
  if (verdict === "reject" && reason) open(reason);
  else press(bar.querySelector(`[name=verdict][value=${verdict}]`), at);
}

function newest() {
  if (tell("newer")) tell("go", "newest");
}

function search() {
  const field = document.querySelector("main input[type=search]");
  if (!field) return;
  open(field);
  field.select();
}

function help() {
  if (!dialog) return;
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

function leave(target) {
  if (typing(target)) {
    target.blur();
    const back = target.closest("article[data-card]") ?? document.querySelector("#inbox li[aria-current=true] .row-link");
    if (back?.matches("article") && !back.hasAttribute("tabindex")) back.tabIndex = -1;
    back?.focus({ preventScroll: true });
  } else {
    tell("untick");
  }
}

const places = { i: "/", c: "/conversations", h: "/history" };

const does = {
  j: () => tell("go", 1),
  k: () => tell("go", -1),
  a: approve,
  r: reject,
  e: edit,
  u: undo,
  s: source,
  x: () => tell("tick"),
  n: newest,
  o: () => tell("go", "group"),
  g: (at) => { chord = at; },
  "/": search,
  "?": help,
  A: (at) => several("approve", at),
  R: (at) => several("reject", at),
};

// name is the key as written in the help: Caps Lock does not count.
function name(event) {
  if (!/^[a-z]$/i.test(event.key)) return event.key;
  return event.shiftKey ? event.key.toUpperCase() : event.key.toLowerCase();
}

// Ctrl+Enter sends the form that somebody writes in: a reason rejects.
function send(event) {
  const field = event.target;
  const form = field.matches?.("textarea, input") && (field.closest("[data-edits]") ? field.form : field.closest("[data-card] form, #bulk"));
  if (!form || event.repeat) return;
  const buttons = [...form.querySelectorAll("button:not([type=button], :disabled)")];
  const button = field.closest("[data-edits]") ? form.querySelector("[data-act=approve-edited]:not([hidden])") ?? act("approve") : field.matches("[data-act-reason]")
    ? form.querySelector("[data-act=reject], [name=verdict][value=reject]") ?? (buttons.length === 1 ? buttons[0] : null)
    : buttons.length === 1 ? buttons[0] : null;
  if (!button) return;
  event.preventDefault();
  press(button, event.timeStamp);
}

function single(event) {
  const key = name(event);
  const second = event.timeStamp - chord < CHORD;
  chord = -Infinity;
  if (second && places[key]) {
    event.preventDefault();
    location.assign(places[key]);
    return;
  }
  if (dialog?.open && key !== "?") return;
  if (/^[0-9]$/.test(key) && !event.repeat && card()) {
    event.preventDefault();
    digit(Number(key), event.timeStamp);
    return;
  }
  if (!Object.hasOwn(does, key) || event.repeat && key !== "j" && key !== "k") return;
  event.preventDefault();
  does[key](event.timeStamp);
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return send(event);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (!dialog?.open) leave(event.target);
  } else if (event.key === "Enter") {
    // Enter presses the focused element, as everywhere; in a row it opens the request's page.
    const on = event.target.closest("a, button, summary, input, textarea, select, label");
    if (off || event.repeat || dialog?.open || on && !on.matches("#inbox li[data-id][aria-current=true] .row-link")) return;
    if (!document.querySelector("#inbox li[aria-current=true]")) return;
    event.preventDefault();
    tell("go", "open");
  } else if (!off && !typing(event.target)) {
    single(event);
  }
});

document.addEventListener("countersign:unfold", (event) => { open(event.detail); });
document.addEventListener("countersign:press", (event) => { press(event.detail.button, event.detail.at); });

if (document.body.hasAttribute("data-keys")) read();
else off = true;

window.addEventListener("storage", (event) => { if (event.key === KEY) read(); });

toggle?.addEventListener("change", () => {
  off = !toggle.checked;
  try {
    if (off) localStorage.setItem(KEY, "off");
    else localStorage.removeItem(KEY);
  } catch { /* this visit only */ }
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-keys-open]")) {
    event.target.closest("details")?.removeAttribute("open");
    if (!dialog.open) dialog.showModal();
  } else if (dialog?.open && (event.target.closest("[data-keys-close]") || event.target === dialog)) {
    dialog.close();
  }
});
