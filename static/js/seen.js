// A person who approves a request that can do great harm must have had its last line in view: in the window, clear of
// the bar, and inside every box that scrolls. A view counts for the same request with the same content, while it is on
// the page.
const root = document.documentElement;
const seen = new Map(); // the ends that were in view, by what they belong to
let watched = new Map(); // the marks that are watched, with their names
let observer = null;
let bar = "";
let asked = null; // { form, button } of the approval that came too early

const marks = () => [...document.querySelectorAll("[data-seen-end]")];
const owner = (mark) => mark.dataset.seenEnd.split(" ", 2).join(" ");
const wasSeen = (mark) => seen.get(owner(mark))?.has(mark.dataset.seenEnd) ?? false;
const of = (form) => marks().filter((mark) => owner(mark) === form.elements.seen_end?.dataset.seenOf);

function note(entries) {
  for (const { target, isIntersecting, intersectionRatio } of entries) {
    if (!isIntersecting || intersectionRatio < 0.9 || !target.isConnected) continue;
    const name = owner(target);
    if (!seen.has(name)) seen.set(name, new Set());
    seen.get(name).add(target.dataset.seenEnd);
  }
  fill();
}

// fill writes into the forms whether all ends of what they decide were seen.
function fill() {
  for (const field of document.querySelectorAll("input[name=seen_end][data-seen-of]")) {
    const ends = of(field.form);
    field.value = ends.length > 0 && ends.every(wasSeen) ? "1" : "";
    if (field.value) quiet(field.form);
  }
}

// quiet takes the way to the end out of a form again.
function quiet(form) {
  const says = form.querySelector("[data-end-first]");
  if (!says || says.hidden) return;
  const back = says.contains(document.activeElement) && asked?.form === form;
  says.hidden = true;
  if (back) asked.button?.focus({ preventScroll: true });
  asked = null;
}

function look() {
  const now = marks();
  for (const name of seen.keys()) if (!now.some((mark) => owner(mark) === name)) seen.delete(name);
  const height = root.style.getPropertyValue("--bar") || "0px"; // as open.js measured it
  if (height !== bar || !observer) {
    observer?.disconnect();
    observer = new IntersectionObserver(note, { rootMargin: `0px 0px -${height} 0px`, threshold: [0, 0.9] });
    bar = height;
    watched = new Map();
  }
  for (const mark of watched.keys()) {
    if (mark.dataset.seenEnd === watched.get(mark) && mark.isConnected) continue;
    observer.unobserve(mark);
    watched.delete(mark);
  }
  for (const mark of now) {
    if (watched.has(mark)) continue;
    observer.observe(mark);
    watched.set(mark, mark.dataset.seenEnd);
  }
  fill();
}

document.addEventListener("countersign:end-first", (event) => {
  asked = event.detail;
  const says = asked.form.querySelector("[data-end-first]");
  says.hidden = false;
  says.querySelector("[data-end-go]").focus({ preventScroll: true });
});

document.addEventListener("click", (event) => {
  const form = event.target.closest?.("[data-end-go]")?.form;
  const next = form && of(form).find((mark) => !wasSeen(mark));
  if (!next) return;
  for (let fold = next.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  next.scrollIntoView({ block: "center" });
});

look();
new MutationObserver(look).observe(document.getElementById("main") ?? document.body, {
  subtree: true, childList: true, attributes: true, attributeFilter: ["data-seen-end", "data-seen-of"],
});
new MutationObserver(look).observe(root, { attributes: true, attributeFilter: ["style"] });
document.addEventListener("htmx:after:swap", look);
window.addEventListener("pageshow", look);
