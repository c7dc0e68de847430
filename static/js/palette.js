// The palette: Ctrl+K, on a Mac ⌘K, goes to a page, an agent, a conversation or a request.
// It decides nothing: of the request that is shown it leads to the page's own button,
// with all its guards, or opens its form.
const KEY = "countersign:pages"; // where somebody was: addresses of pages, never what they show
const MOST = 4;
const dialog = document.getElementById("palette");
const field = document.getElementById("palette-field");
const list = document.getElementById("palette-list");
const found = document.getElementById("palette-found");
const says = dialog?.querySelector("[data-palette-says]");
const acts = dialog?.querySelector("[data-palette-acts]");
const recent = dialog?.querySelector("[data-palette-recent]");
const mac = /Mac|iPhone|iPad/.test(navigator.platform);
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(`countersign:${name}`, { detail }));

let asked = null; // the text that was sent last
let answered = null; // the text whose results are there
let wanted = false; // Enter was pressed before the results of the typed text were there
let moved = false; // somebody has chosen a row since the results came
let down = false; // the key that chose is still down

const text = () => field.value.trim();
const fresh = () => answered === text();
const options = () => [...list.querySelectorAll("[role=option]")].filter((one) => !one.closest("[hidden]"));
const chosen = () => list.querySelector("[aria-selected=true]");

function choose(option) {
  for (const one of list.querySelectorAll("[aria-selected=true]")) one.setAttribute("aria-selected", "false");
  if (option) {
    option.setAttribute("aria-selected", "true");
    field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  } else {
    field.removeAttribute("aria-activedescendant");
  }
}

function first() {
  moved = false;
  choose(options()[0]);
  list.scrollTop = 0;
}

// The one request on the page, if it waits for a decision.
function shown() {
  const cards = [...document.querySelectorAll("article[data-card]")].filter((one) => one.checkVisibility());
  return cards.length === 1 && !cards[0].hasAttribute("data-settled") ? cards[0] : null;
}

// What each entry leads to. None is pressed here.
const leads = {
  approve: (card) => card.querySelector("form [data-act=approve-edited]:not([hidden], .unscripted *)") ?? card.querySelector("[data-act=approve]"),
  answer: (card) => card.querySelector("[data-act=option], textarea[name=answer]"),
  reject: (card) => card.querySelector("[data-reject] > summary, .decline > summary") ?? card.querySelector("[data-presets], [data-act-reason]"),
  edit: (card) => card.querySelector("summary[data-act=edit]"),
  ask: (card) => card.querySelector("details.act textarea[name=text]"),
};

function lead(name) {
  const card = shown();
  const to = card && leads[name](card);
  if (!to) return;
  tell("led");
  const fold = to.closest("summary")?.parentElement;
  if (fold) fold.open = true; // reject.js goes on to the reasons
  tell("unfold", fold?.querySelector(":scope > :not(summary) :is(textarea, input:not([type=hidden], [type=radio]), select)") ?? to);
}

// offer shows what can be done with the request that is shown, of what begins as typed.
function offer() {
  const card = shown();
  const words = text().toLowerCase();
  let any = false;
  for (const one of acts.querySelectorAll("[data-palette-act]")) {
    const fits = card !== null && leads[one.dataset.paletteAct](card) !== null && one.textContent.trim().toLowerCase().startsWith(words);
    one.hidden = !fits;
    any ||= fits;
  }
  acts.hidden = !any;
}

function visited() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

function visit() {
  const here = dialog.dataset.place;
  if (!here) return;
  try {
    localStorage.setItem(KEY, JSON.stringify([here, ...visited().filter((one) => one !== here)].slice(0, MOST + 1)));
  } catch { /* this visit only */ }
}

// recall puts the pages where somebody was before all others, if they may still go there.
function recall() {
  for (const old of recent.querySelectorAll("[role=option]")) old.remove();
  if (text() === "" && fresh()) {
    for (const url of visited().filter((one) => one !== dialog.dataset.place)) {
      const page = [...found.querySelectorAll("a[role=option]")].find((one) => one.getAttribute("href") === url);
      if (page) recent.append(page);
    }
  }
  recent.hidden = !recent.querySelector("[role=option]");
}

function draw() {
  offer();
  recall();
  list.hidden = false;
  const any = options().length > 0;
  list.hidden = !any;
  field.setAttribute("aria-expanded", String(any));
}

function look(now) {
  globalThis.htmx?.process(field); // who is quick opens it before htmx has seen the page
  field.dispatchEvent(new CustomEvent(now ? "countersign:look-now" : "countersign:look"));
}

function show() {
  if (document.querySelector("dialog[open]")) return;
  field.value = "";
  wanted = false;
  says.textContent = "";
  draw();
  dialog.showModal();
  field.focus();
  first();
  look(true);
}

function take(option) {
  if (!option) return;
  if (option.matches("a")) {
    option.click();
    dialog.close();
  } else {
    const name = option.dataset.paletteAct;
    dialog.close();
    lead(name);
  }
}

function enter() {
  if (chosen()?.closest("[data-palette-acts]") || fresh()) return take(chosen());
  wanted = true;
  look(true);
}

function step(event) {
  const all = options();
  const at = all.indexOf(chosen());
  const to = { ArrowDown: at + 1, ArrowUp: at < 0 ? all.length - 1 : at - 1, Home: 0, End: all.length - 1 }[event.key];
  event.preventDefault();
  if (!all.length) return;
  moved = true;
  choose(all[(to + all.length) % all.length]);
}

const composes = (event) => event.isComposing || event.keyCode === 229;
const letter = (event) => (/^[a-z]$/i.test(event.key) ? event.key.toLowerCase() : event.code.replace(/^Key/, "").toLowerCase());
const opens = (event) => !composes(event) && !event.altKey && !event.shiftKey && (mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey) && letter(event) === "k";

function typed(event) {
  event.stopPropagation(); // keys belong to the dialog while it is open
  if (composes(event)) return;
  if (opens(event)) {
    event.preventDefault();
    if (!event.repeat) dialog.close();
  } else if (event.key === "Enter" && event.target === field) {
    event.preventDefault();
    if (event.repeat) return;
    down = true;
    enter();
  } else if (["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey && event.target === field) {
    step(event);
  }
}

if (dialog) {
  visit();
  for (const key of document.querySelectorAll("[data-palette-key]")) if (mac) key.textContent = "⌘K";
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || !opens(event) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    if (!event.repeat) show();
  });
  // A key that stays down presses nothing of what the palette led to.
  window.addEventListener("keydown", (event) => {
    if (!down) return;
    if (!event.repeat) { down = false; return; }
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  window.addEventListener("keyup", () => { down = false; }, true);

  dialog.addEventListener("keydown", typed);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-palette-close]")) dialog.close();
    const option = event.target.closest("[role=option]");
    if (option?.matches("a") && !event.ctrlKey && !event.metaKey && !event.shiftKey) dialog.close();
    else if (option?.matches("[data-palette-act]")) take(option);
  });
  dialog.addEventListener("pointermove", (event) => {
    const option = event.target.closest("[role=option]");
    if (!option || option === chosen() || !event.movementX && !event.movementY) return;
    moved = true;
    choose(option);
  });
  dialog.querySelector("form").addEventListener("submit", (event) => { event.preventDefault(); });
  const changed = () => {
    wanted = false;
    offer();
    if (!moved || !chosen()) first();
    look(false);
  };
  field.addEventListener("input", (event) => { if (!event.isComposing) changed(); });
  field.addEventListener("compositionend", changed);
  document.addEventListener("click", (event) => { if (event.target.closest("[data-palette-open]")) show(); });
  document.addEventListener("htmx:before:request", (event) => { if (event.detail?.ctx?.sourceElement === field) asked = text(); });
  document.addEventListener("htmx:after:swap", (event) => {
    if (event.detail?.ctx?.sourceElement !== field) return;
    answered = asked;
    const kept = moved ? chosen()?.getAttribute("href") ?? chosen()?.id : null;
    draw();
    says.textContent = found.querySelector("[data-says]")?.dataset.says ?? "";
    const again = options().find((one) => kept && (one.getAttribute("href") === kept || one.id === kept));
    if (again) choose(again);
    else first();
    if (!wanted || !fresh()) return;
    wanted = false;
    take(options().find((one) => one.matches("a")));
  });
  for (const name of ["htmx:response:error", "htmx:error"]) {
    document.addEventListener(name, (event) => {
      if (event.detail?.ctx?.sourceElement !== field || event.detail.ctx.response?.status === 422) return;
      wanted = false;
      says.textContent = says.dataset.failed;
    });
  }
  const forget = () => { try { localStorage.removeItem(KEY); } catch { /* nothing was kept */ } };
  document.addEventListener("countersign:forget", forget);
  document.addEventListener("submit", (event) => { if (event.target.action?.endsWith?.("/signout")) forget(); });
}
