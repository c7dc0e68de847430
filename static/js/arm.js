// What can do much harm needs two presses: the first only asks, the second
// confirms when the question has been there for a moment, in another place than
// the first. To hold the button or the key does both.
const LIVE = 350; // until Confirm and Cancel act
const HOLD = 600;

let armed = null; // { form, button, at, state, pressed: where the button was }
let held = null; // the button that a pointer holds: { button, timer }
let key = null; // the key that is down: { name, at }
let timer = 0; // until the held key confirms
let released = null; // the button whose click ends a hold, and means nothing more

const allowed = (at) => document.dispatchEvent(new CustomEvent("countersign:decide", { detail: { at }, cancelable: true }));
const panel = () => armed.form.querySelector("[data-armed]");
const stateOf = (form) => form.closest("[data-state]")?.dataset.state;
const acts = () => panel().querySelectorAll("[data-confirm], [data-disarm]");

// releases reports whether a button lets something through that has to be confirmed.
function releases(form, button) {
  if (!form?.elements?.confirmed) return false;
  const sent = new FormData(form, button);
  const verdict = sent.get("verdict");
  return Boolean(verdict) && verdict !== "reject" && verdict !== "discard";
}

// early reports whether the end of what would be approved was not in view yet; the
// bar then says so, and leads there.
function early(form, button) {
  const end = form.elements.seen_end;
  if (!end || end.value === "1") return false;
  document.dispatchEvent(new CustomEvent("countersign:end-first", { detail: { form, button } }));
  return true;
}

// asks says how the question of a button begins and ends; the request is quoted between.
function asks(button) {
  if (button?.dataset.act === "option") return { ends: ` with “${button.firstChild.textContent.trim()}”?` };
  if (button?.dataset.act === "approve-edited") return { does: "Approve as edited?", bare: true }; // what changes is written above
  if (button?.dataset.act === "approve-rule") return { ends: " and make a rule from it?" };
  return { ends: button?.dataset.ends };
}

// say puts a text into a part of the question, or what it said at first.
function say(part, text) {
  part.dataset.first ??= part.textContent;
  part.textContent = text ?? part.dataset.first;
}

function disarm(back) {
  clearTimeout(timer);
  if (!armed) return;
  const { form, button } = armed;
  if (form.isConnected) {
    panel().hidden = true;
    form.removeAttribute("data-asking");
    if (back) button?.focus({ preventScroll: true });
  }
  armed = null;
}

// Where the question can be, the calmest first: see decide.css.
const PLACES = ["start", "end", "above", "below", "above clear", "below clear"];
const GAP = 8; // a thumb is no needle

function covers(pressed, button) {
  const at = button.getBoundingClientRect();
  return at.left < pressed.right + GAP && at.right > pressed.left - GAP && at.top < pressed.bottom + GAP && at.bottom > pressed.top - GAP;
}

// place puts the question where Confirm does not cover the button that was pressed: two presses in one place never
// approve.
function place() {
  const confirms = panel().querySelector("[data-confirm]");
  for (const at of PLACES) {
    armed.form.dataset.asking = at;
    if (!covers(armed.pressed, confirms)) return;
  }
}

// ask shows the question, with Confirm and Cancel once they act.
function ask() {
  const { form, button } = armed;
  const { does, ends, bare } = asks(button);
  say(panel().querySelector("[data-armed-does]"), does);
  say(panel().querySelector("[data-armed-after]"), ends);
  panel().querySelector("[data-armed-what]").hidden = Boolean(bare);
  panel().hidden = false;
  place();
  for (const act of acts()) {
    if (live(performance.now())) act.removeAttribute("aria-disabled");
    else act.setAttribute("aria-disabled", "true");
  }
}

function arm(form, button) {
  disarm();
  armed = { form, button, at: performance.now(), state: stateOf(form), pressed: button.getBoundingClientRect() };
  ask();
  panel().querySelector("[data-confirm]").focus({ preventScroll: true });
  const now = armed;
  setTimeout(() => {
    if (armed === now) for (const act of acts()) act.removeAttribute("aria-disabled");
  }, LIVE);
  if (key) timer = setTimeout(confirm, Math.max(0, HOLD - (performance.now() - key.at)));
}

function confirm() {
  if (!armed) return;
  const { form, button } = armed;
  disarm();
  if (early(form, button)) return;
  form.elements.confirmed.value = "true";
  form.requestSubmit(button);
  form.elements.confirmed.value = ""; // this submit is already on its way
}

const live = (at) => armed !== null && at - armed.at >= LIVE;

window.addEventListener("submit", (event) => {
  const { target: form, submitter: button } = event;
  if (!releases(form, button)) return disarm();
  if (form.elements.confirmed.value === "true") return;
  if ([...form.elements].some((field) => field.matches("[data-checklist] input:not(:checked)"))) return disarm(); // the server names the missing tick
  event.preventDefault();
  event.stopImmediatePropagation();
  if (armed?.form === form && armed.button === button) {
    if (live(event.timeStamp)) setTimeout(confirm); // a form that is being sent is not sent again
  } else if (allowed(event.timeStamp) && !early(form, button)) {
    arm(form, button);
  }
}, true);

window.addEventListener("click", (event) => {
  const button = event.target.closest?.("button");
  if (!button) return;
  if (button === released) {
    released = null;
    event.preventDefault();
    event.stopImmediatePropagation();
  } else if (armed && button.matches("[data-confirm], [data-disarm]") && live(event.timeStamp)) {
    if (button.matches("[data-confirm]")) confirm();
    else disarm(true);
  }
}, true);

window.addEventListener("keydown", (event) => {
  if (event.repeat) {
    if (event.target.closest?.("[data-armed]")) event.preventDefault(); // a key that stays down presses nothing twice
    return;
  }
  if (event.key === "Escape" && armed) {
    disarm(true);
    event.preventDefault();
    event.stopImmediatePropagation();
  } else if (!["Control", "Meta", "Alt", "Shift"].includes(event.key)) {
    key = { name: event.code, at: performance.now() };
  }
}, true);

function letGo() {
  key = null;
  clearTimeout(timer);
}
window.addEventListener("keyup", letGo, true);

function drop() {
  if (!held) return;
  clearTimeout(held.timer);
  held.button.removeAttribute("data-holding");
  held = null;
}

window.addEventListener("pointerdown", (event) => {
  released = null;
  drop();
  const button = event.target.closest?.("button[type=submit]");
  if (event.button || !button || button.disabled || !releases(button.form, button)) return;
  const at = event.timeStamp;
  const hold = () => {
    drop();
    if (!button.isConnected || !button.form.reportValidity() || !allowed(at) || early(button.form, button)) return;
    released = button;
    disarm();
    armed = { form: button.form, button, at };
    confirm();
  };
  held = { button, timer: setTimeout(hold, HOLD) };
  button.dataset.holding = "";
}, true);
for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, drop, true);
document.addEventListener("pointerout", (event) => { if (held && event.target.closest("button") === held.button && !held.button.contains(event.relatedTarget)) drop(); });
document.addEventListener("contextmenu", (event) => { if (held?.button.contains(event.target)) event.preventDefault(); });
window.addEventListener("blur", () => { drop(); letGo(); });

// The question goes when its request changes, or leaves the page.
document.addEventListener("input", (event) => { if (armed && event.target.form === armed.form && event.target.name !== "reason") disarm(); });
document.addEventListener("htmx:after:swap", () => {
  if (!armed) return;
  const { form, button, state } = armed;
  if (!form.isConnected || button && !button.isConnected || stateOf(form) !== state) return disarm();
  if (!panel().hidden) return;
  ask(); // the form was redrawn unchanged
  if (document.activeElement === document.body) panel().querySelector("[data-confirm]").focus({ preventScroll: true });
});
document.addEventListener("visibilitychange", () => { if (document.hidden) disarm(); });
