// A person who signs out in one tab has signed out in all: the others clear their contents. A session that has expired
// is opened again in place, and the request that met it goes on, but only for the person for whom the page was made;
// another person gets a new page.
const LOST = "Your session expired. Sign in – your text is kept.";
const dialog = document.getElementById("session");
const form = dialog?.querySelector("form");
const wrong = dialog?.querySelector("[data-session-error]");
const who = document.body.dataset.user ?? "";
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(`countersign:${name}`, { detail }));

let waiting = null; // what goes on once somebody has signed in: { promise, resolve }
let declined = false; // "Not now": only what a person does asks again

// What a person sent or opened, and not what a part of the page looked for itself.
const meant = (ctx) => ctx.request.method === "POST" || ctx.sourceElement?.matches?.("a") === true;

// signIn is true once the same person is signed in again.
function signIn(act) {
  tell("expired");
  if (declined && !act && !waiting) return Promise.resolve(false);
  if (!waiting) {
    waiting = {};
    waiting.promise = new Promise((resolve) => { waiting.resolve = resolve; });
    wrong.textContent = "";
    dialog.returnValue = "";
    dialog.showModal();
  }
  return waiting.promise;
}

function end(same) {
  const { resolve } = waiting ?? {};
  waiting = null;
  declined = !same;
  resolve?.(same);
  if (dialog.open) dialog.close();
}

function settle(user) {
  if (user !== who) {
    tell("forget");
    location.reload();
    return;
  }
  end(true);
  tell("signed-in");
}

async function send(event) {
  event.preventDefault();
  event.stopPropagation();
  const button = form.querySelector("[type=submit]");
  if (button.getAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  wrong.textContent = "";
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "application/json" } });
    const said = await answer.json();
    if (answer.ok) {
      tell("broadcast", { name: "session", data: said.user });
      settle(said.user);
    } else {
      wrong.textContent = said.detail;
    }
  } catch {
    wrong.textContent = "No connection to the server. Try again.";
  } finally {
    button.removeAttribute("aria-busy");
    const password = form.querySelector("[type=password]");
    password.value = "";
    if (dialog.open) password.focus();
  }
}

// check asks whose session this is, before a form takes the page away.
async function check() {
  try {
    const answer = await fetch("/session", { headers: { Accept: "application/json", "Cache-Control": "no-store" }, cache: "no-store" });
    if (answer.status === 401) return "gone";
    return answer.ok && (await answer.json()).user !== who ? "other" : "same";
  } catch {
    return "lost";
  }
}

// The contents are for a signed-in person, and are taken out of the page.
function blank() {
  tell("forget");
  tell("expired");
  const says = document.getElementById("signed-out")?.content.cloneNode(true);
  document.title = "You signed out";
  document.body.replaceChildren(...says ? [says] : []);
  document.body.querySelector("a")?.focus();
}

// The page that comes after signing out tells the others (left.js): by then it is done.
document.addEventListener("submit", (event) => {
  if (!event.target.action?.endsWith?.("/signout")) return;
  try { sessionStorage.setItem("countersign:left", who); } catch { /* this tab only */ }
});

const leaving = new WeakSet(); // forms that are on their way

async function submit(form, button) {
  let state = await check();
  if (state === "gone" && await signIn(true)) state = "same";
  if (state === "other") return settle("");
  if (state !== "same") {
    leaving.delete(form);
    tell("unsent");
    tell("hint", state === "gone" ? LOST : "No connection: nothing was sent. Your text is kept.");
    return;
  }
  const extra = document.createElement("input"); // submit() leaves the pressed button out
  extra.type = "hidden";
  if (button?.name) Object.assign(extra, { name: button.name, value: button.value });
  form.append(extra);
  const action = form.getAttribute("action");
  if (button?.hasAttribute("formaction")) form.action = button.getAttribute("formaction");
  HTMLFormElement.prototype.submit.call(form);
  extra.remove();
  if (action !== null) form.setAttribute("action", action);
  setTimeout(() => leaving.delete(form), 10000); // a person who stopped the page may send again
}

if (dialog && who) {
  document.addEventListener("htmx:before:request", (event) => {
    const { ctx } = event.detail;
    ctx.request.headers["Countersign-User"] = who;
    const real = ctx.fetch;
    ctx.fetch = async (url, request) => {
      const answer = await real(url, request);
      if (answer.status !== 401) return answer;
      clearTimeout(ctx.requestTimeout); // signing in takes as long as it takes
      const act = meant(ctx);
      if (await signIn(act)) return real(url, request);
      if (act) tell("hint", LOST);
      throw new DOMException("signed out", "AbortError");
    };
  });

  window.addEventListener("submit", (event) => {
    const { target, submitter } = event;
    if (event.defaultPrevented || target.method !== "post" || target.action.endsWith("/signout")) return;
    event.preventDefault();
    if (leaving.has(target)) return;
    leaving.add(target);
    submit(target, submitter);
  });

  // Keys belong to the dialog while it is open.
  window.addEventListener("keydown", (event) => { if (dialog.open) event.stopPropagation(); }, true);
  form.addEventListener("submit", send);
  dialog.querySelector("[data-session-close]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => { if (waiting) end(false); });
  document.addEventListener("countersign:ask-sign-in", () => { signIn(false); });
  document.addEventListener("countersign:heard:signed-out", async (event) => {
    if (event.detail === who && await check() !== "same") blank();
  });
  document.addEventListener("countersign:heard:session", (event) => { if (waiting) settle(event.detail); });
}
