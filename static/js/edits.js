// An edit is never dropped: while a field differs from the request, the only button that approves is the one that
// approves the edit, and the changes are shown beside it.
const LENGTH = 60; // of a value beside the button
const BEFORE = 12; // of it, before the first difference

const fields = (form) => [...form.elements].filter((field) => field.name && field.matches("[data-edits] :is(input, textarea, select), [name=sum]"));

// asked is what a field held when the request was shown.
function asked(field) {
  if (field.dataset.asked !== undefined) return field.dataset.asked;
  if (field instanceof HTMLSelectElement) return ([...field.options].find((option) => option.defaultSelected) ?? field.options[0]).value;
  return field.defaultValue;
}

const differs = (field) => field.value !== asked(field);

// cut leaves of two values what begins to differ.
function cut(before, after) {
  const [a, b] = [[...before], [...after]];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  const from = Math.max(a.length, b.length) > LENGTH ? Math.max(0, same - BEFORE) : 0;
  const part = (text) => (from ? "…" : "") + text.slice(from, from + LENGTH).join("") + (text.length > from + LENGTH ? "…" : "");
  return [part(a), part(b)];
}

// Whatever cannot be seen is written out, here as everywhere.
const reveal = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

function text(tag, value) {
  const element = document.createElement(tag);
  const inner = document.createElement("bdi");
  inner.className = "untrusted";
  inner.textContent = reveal(value);
  element.append(inner);
  return element;
}

function line(member, before, after) {
  const item = document.createElement("li");
  const [old, now] = cut(before, after);
  const name = document.createElement("b");
  name.append(member);
  item.append(name, " ", text("del", old), " → ", text("ins", now));
  return item;
}

// members compares two inputs; empty where one of them is no object.
function members(before, after) {
  try {
    const [a, b] = [JSON.parse(before), JSON.parse(after)];
    if (!a || !b || Array.isArray(a) || Array.isArray(b) || typeof a !== "object" || typeof b !== "object") return [];
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
    const show = (value) => (value === undefined ? "" : JSON.stringify(value));
    return names.filter((name) => show(a[name]) !== show(b[name])).map((name) => line(text("span", name), show(a[name]), show(b[name])));
  } catch {
    return [];
  }
}

function lines(field) {
  if (field.name === "sum") return [line("budget", asked(field), field.value)];
  if (field.name === "input") {
    const changed = members(asked(field), field.value);
    return changed.length ? changed : [line("input", asked(field), field.value)];
  }
  const label = document.querySelector(`label[for="${CSS.escape(field.id)}"] .untrusted`);
  return [line(label ? label.cloneNode(true) : field.name, asked(field), field.value)];
}

function draw(form) {
  const changed = fields(form).filter(differs);
  const approve = form.querySelector("[data-act=approve][value=approve]");
  const edited = form.querySelector("[data-act=approve-edited], [data-act=reject-edited]");
  const box = form.querySelector("[data-changes]");
  if (!edited || !approve || !box) return;
  approve.hidden = changed.length > 0;
  edited.hidden = changed.length === 0;
  box.hidden = changed.length === 0;
  box.querySelector("[data-changed]").replaceChildren(...changed.flatMap(lines));
}

const drawAll = () => document.querySelectorAll("form[data-verdict]").forEach(draw);

for (const name of ["input", "change"]) {
  document.addEventListener(name, (event) => {
    const form = event.target.form;
    if (form?.matches("[data-verdict]") && fields(form).includes(event.target)) draw(form);
  });
}

document.addEventListener("click", (event) => {
  const discard = event.target.closest?.("[data-discard]");
  if (!discard) return;
  event.preventDefault();
  for (const field of fields(discard.form)) {
    if (differs(field)) field.value = asked(field);
  }
  draw(discard.form);
  discard.form.querySelector("[data-act=approve]")?.focus({ preventScroll: true });
});

drawAll();
window.addEventListener("pageshow", drawAll); // what a browser remembered
document.addEventListener("htmx:after:swap", drawAll);
document.addEventListener("countersign:restored", drawAll);
