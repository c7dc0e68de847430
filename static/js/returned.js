// A page to which somebody goes back may come as it was left, with all that it showed
// then. Until it has found out whose session it is now, and has looked for what it shows,
// nothing on it acts.
const root = document.documentElement;
const who = document.body.dataset.user ?? "";
const under = new Set(); // requests for parts of the page that are on their way
const WAIT = 10000; // for the parts; after that the page is reloaded
let focused = null; // what had the focus when the page was left
let checking = null;

// Nothing of what scripts ask for is stored. They say so themselves, for a page that was
// answered so is thrown away when it is left (handlers/cache.go).
const unstored = { "Cache-Control": "no-store" };

document.addEventListener("htmx:before:request", (event) => {
  const { ctx } = event.detail;
  under.add(ctx);
  ctx.request.cache = "no-store";
  Object.assign(ctx.request.headers, unstored);
});
document.addEventListener("htmx:finally:request", (event) => {
  under.delete(event.detail?.ctx);
  if (!under.size) checking?.();
});

// parts is true once every part that refetches itself has come.
function parts() {
  document.dispatchEvent(new CustomEvent("countersign:look"));
  return new Promise((resolve) => {
    checking = () => resolve(true);
    setTimeout(resolve, WAIT, false);
    setTimeout(() => { if (!under.size) resolve(true); });
  });
}

async function fresh() {
  try {
    const answer = await fetch("/session", { headers: { Accept: "application/json", ...unstored }, cache: "no-store" });
    return answer.ok && (await answer.json()).user === who && await parts();
  } catch {
    return false; // without the server nothing is known to be so still
  }
}

// still keeps all of the page from acting, keys among it, which act on the page and not on the focused element.
function still(event) {
  if (!document.body.inert) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}
for (const name of ["keydown", "keyup", "click", "submit", "pointerdown"]) window.addEventListener(name, still, true);

window.addEventListener("pagehide", () => {
  under.clear(); // the browser ends them
  focused = document.activeElement;
  document.body.inert = true;
});

window.addEventListener("pageshow", async (event) => {
  if (!event.persisted) return;
  root.dataset.returned = "";
  if (!await fresh()) return location.reload();
  delete root.dataset.returned;
  document.body.inert = false;
  checking = null;
  focused?.focus?.({ preventScroll: true });
});
