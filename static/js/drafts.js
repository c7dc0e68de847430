// Typed text survives a sign-in that replaces the page. It is kept in this tab only, and shown only to the person who
// typed it.
const KEY = "countersign:drafts";
const who = document.body.dataset.user ?? "";
let kept = true; // whether to keep typed text when the page goes

function read() {
  try { return JSON.parse(sessionStorage.getItem(KEY)) ?? {}; } catch { return {}; }
}

function write(all) {
  try {
    if (Object.keys(all.pages ?? {}).length) sessionStorage.setItem(KEY, JSON.stringify(all));
    else sessionStorage.removeItem(KEY);
  } catch { /* the storage is full */ }
}

// forget is for when somebody else signs in, or this person signs out.
function forget() {
  kept = false;
  write({});
}

const fields = () => [...document.querySelectorAll("main :is(textarea, select, input:not([type=hidden], [type=password], [type=file], [type=submit], [type=button], [data-secret]))")]
  .filter((field) => field.name && (field.form?.method ?? "") === "post");

const ticks = (field) => field.type === "checkbox" || field.type === "radio";

const value = (field) => (ticks(field) ? String(field.checked) : field.value);

function first(field) {
  if (ticks(field)) return String(field.defaultChecked);
  if (field instanceof HTMLSelectElement) return [...field.options].find((option) => option.defaultSelected)?.value ?? field.options[0]?.value ?? "";
  return field.defaultValue;
}

// What a person decides is about the request that was shown, named by where its form leads and by its digest,
// and is put on no other. A message to the agent is about none.
const about = (field) => (field.name === "content" ? "" : field.form.querySelector("[name=digest]")?.value ?? "");

// A field is known by the action of its form, its subject, its name, and its place among others of that name; a box
// also by its value and its id.
function named() {
  const seen = new Map();
  return fields().map((field) => {
    const key = [field.form.getAttribute("action"), about(field), field.name, ticks(field) ? `${field.value} ${field.id}` : ""].join("\n");
    seen.set(key, (seen.get(key) ?? -1) + 1);
    return [`${key}\n${seen.get(key)}`, field];
  });
}

function keep() {
  if (!who || !kept) return;
  const typed = named().filter(([, field]) => value(field) !== first(field)).map(([key, field]) => [key, value(field)]);
  const all = read();
  const mine = all.user === who ? all.pages : {};
  if (typed.length) mine[location.pathname] = { typed, back: false };
  else if (!mine[location.pathname]?.back) delete mine[location.pathname];
  write({ user: who, pages: mine });
}

function put(field, text) {
  if (ticks(field)) field.checked = text === "true";
  else field.value = text;
  for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

let rest = new Map();

function restore() {
  if (!rest.size) return;
  let found = false;
  for (const [key, field] of named()) {
    if (!rest.has(key)) continue;
    put(field, rest.get(key));
    rest.delete(key);
    found = true;
  }
  if (found) document.dispatchEvent(new CustomEvent("countersign:hint", { detail: "Your unsent text is restored." }));
}

const all = read();
if (!who) { // the sign-in page: the kept text may be needed after it
  for (const page of Object.values(all.pages ?? {})) page.back = true;
  write(all);
} else if (all.user !== who) {
  write({});
} else {
  const page = all.pages?.[location.pathname];
  if (page?.back) rest = new Map(page.typed);
  delete all.pages?.[location.pathname];
  write(all);
  window.addEventListener("load", restore); // after the modules that react to typing
  document.addEventListener("htmx:after:swap", restore);
}

window.addEventListener("pagehide", keep);
document.addEventListener("countersign:forget", forget);
document.addEventListener("submit", (event) => { if (event.target.action?.endsWith?.("/signout")) forget(); });
