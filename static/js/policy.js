// The policy: rules are dragged to another place by their number, and moved by Alt and the
// arrow keys; its JSON has numbered lines. All of it is there without script too: as the
// buttons Up and Down, and as a plain text area.
const row = (node) => node?.closest?.("tr[id^='rule-']");
const place = (tr) => Number(tr?.querySelector("button[value^='edit:']")?.value.slice("edit:".length));

// press sends the form as a button of that value would.
function press(form, value) {
  const button = document.createElement("button");
  Object.assign(button, { type: "submit", name: "step", value, hidden: true, formNoValidate: true });
  form.append(button);
  button.click();
  button.remove();
}

let dragged = null;

function drag(event) {
  const handle = event.target.closest?.("[data-drag]");
  if (!handle) return;
  dragged = row(handle);
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", "");
}

// over marks where the rule would go: before or behind the one that it is held over.
function over(event) {
  const target = row(event.target);
  if (!dragged || !target) return;
  event.preventDefault();
  unmark();
  const box = target.getBoundingClientRect();
  target.dataset.drop = event.clientY < box.top + box.height / 2 ? "before" : "behind";
}

const unmark = () => document.querySelectorAll("[data-drop]").forEach((tr) => tr.removeAttribute("data-drop"));

function drop(event) {
  const target = row(event.target);
  if (!dragged || !target?.dataset.drop) return;
  event.preventDefault();
  const from = place(dragged);
  let to = place(target) + (target.dataset.drop === "behind" ? 1 : 0);
  if (from < to) to -= 1; // its own place is free then
  unmark();
  const form = dragged.closest("form");
  dragged = null;
  if (from !== to) press(form, `move:${from}:${to}`);
}

function end() {
  unmark();
  dragged = null;
}

function keys(event) {
  if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
  const tr = row(event.target);
  const button = tr?.querySelector(`button[value='${event.key === "ArrowUp" ? "up" : "down"}:${place(tr)}']`);
  if (!button) return;
  event.preventDefault();
  button.click();
}

document.addEventListener("dragstart", drag);
document.addEventListener("dragover", over);
document.addEventListener("drop", drop);
document.addEventListener("dragend", end);
document.addEventListener("keydown", keys);

for (const tr of document.querySelectorAll("#policy-form tr[id^='rule-']")) {
  const handle = tr.querySelector("th.num");
  handle.draggable = true;
  handle.dataset.drag = "";
  handle.title = "Drag to move";
}
// A rule that was moved has the focus, so that the next key moves it on. The browser goes to
// the fragment at the load, and takes the focus away by that.
const focus = () => document.getElementById(location.hash.slice(1))?.querySelector("button")?.focus();
if (location.hash.startsWith("#rule-")) addEventListener("load", () => requestAnimationFrame(focus));

// A subject offers the operators that fit it.
function fit(event) {
  const subject = event.target.closest?.(".c-subject");
  if (!subject) return;
  const fits = subject.selectedOptions[0]?.dataset.fits?.split(" ");
  const operator = subject.parentElement.querySelector(".c-operator");
  for (const option of operator.options) option.hidden = option.disabled = Boolean(fits) && !fits.includes(option.value);
  if (operator.selectedOptions[0]?.disabled) operator.value = fits[0];
}
document.addEventListener("change", fit);

// The draft takes along all that is typed here, to another page of the policy.
const form = document.querySelector("#policy-form");
const typed = () => new URLSearchParams(new FormData(form)).toString();
const begun = form && typed();
document.querySelector(".ways")?.addEventListener("click", (event) => {
  const tab = event.target.closest("a");
  if (!form || !tab || event.ctrlKey || event.metaKey || event.shiftKey || typed() === begun) return;
  event.preventDefault();
  press(form, `go:${tab.getAttribute("href")}`);
});

// Numbers beside the lines of the document, which scroll along.
const text = document.querySelector("#json-form #document");
if (text) {
  const gutter = document.createElement("div");
  gutter.className = "gutter";
  gutter.setAttribute("aria-hidden", "true");
  const frame = document.createElement("div");
  frame.className = "numbered";
  text.replaceWith(frame);
  frame.append(gutter, text);
  let lines = 0;
  const number = () => {
    const now = text.value.split("\n").length;
    if (now !== lines) gutter.textContent = Array.from({ length: now }, (_, i) => i + 1).join("\n");
    lines = now;
    gutter.scrollTop = text.scrollTop;
  };
  text.addEventListener("input", number);
  text.addEventListener("scroll", number);
  number();
}
