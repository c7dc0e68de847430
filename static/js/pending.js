// What takes longer than a moment shows that it is under way: the button that was
// pressed, and the pane that is about to show another request.
const SOON = 100;
const under = new Map(); // request to what it marks and the timer until it does

function mark(key, element, name) {
  if (!element) return;
  const timer = setTimeout(() => {
    element.setAttribute("aria-busy", "true");
    if (name) document.dispatchEvent(new CustomEvent("countersign:say", { detail: name }));
  }, SOON);
  under.set(key, { element, timer });
}

function clear(key) {
  const { element, timer } = under.get(key) ?? {};
  if (!element) return;
  clearTimeout(timer);
  under.delete(key);
  if (![...under.values()].some((other) => other.element === element)) element.removeAttribute("aria-busy");
}

const sender = (ctx) => ctx.request.submitter ?? ctx.sourceElement?.querySelector?.("button:not([type=button])");

document.addEventListener("htmx:before:request", (event) => {
  const { ctx } = event.detail;
  if (ctx.request.method === "POST") mark(ctx, sender(ctx), "Sending…");
  else if (ctx.sourceElement?.matches?.(".row-link")) mark(ctx, document.getElementById("detail"));
});
document.addEventListener("htmx:before:swap", (event) => clear(event.detail?.ctx)); // before it is said what came of it
document.addEventListener("htmx:finally:request", (event) => clear(event.detail?.ctx));

// A form that is on its way is not sent again by a second press.
window.addEventListener("submit", (event) => {
  const pressed = [...under.values()].some(({ element }) => element.form === event.target && element.matches("button"));
  if (!pressed) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

// Forms that take the page with them. Data are collected after this event.
document.addEventListener("submit", (event) => {
  if (!event.defaultPrevented && event.target.method === "post" && !event.target.hasAttribute("hx-post")) mark(event.target, event.submitter, "Sending…");
});
const over = () => { for (const key of [...under.keys()]) if (key instanceof Element) clear(key); };
window.addEventListener("pageshow", over);
document.addEventListener("countersign:unsent", over);
