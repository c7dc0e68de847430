// Notifications of this browser. The browser makes an address to which messages for it are
// sent, and the server keeps it until somebody signs out here.
const form = document.querySelector("form[data-push-key]");
const able = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

const bytes = (base64url) => Uint8Array.from(atob(base64url.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

function explain(words) {
  const note = form.querySelector("[data-push-note]");
  note.textContent = words;
  note.hidden = words === "";
}

// leave ends the subscription: later messages to it are lost.
async function leave() {
  const worker = await navigator.serviceWorker.getRegistration();
  const old = await worker?.pushManager?.getSubscription();
  await old?.unsubscribe();
}

// An address from before may be another person's: this one is always new.
async function subscribe() {
  const worker = await navigator.serviceWorker.ready;
  await leave();
  return worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(form.dataset.pushKey) });
}

async function turnOn(button) {
  if (!able) return explain("This browser has no web push.");
  button.disabled = true;
  explain("");
  try {
    if (await Notification.requestPermission() !== "granted") return explain("Your browser blocks notifications. Allow them for this site, then try again.");
    const made = await subscribe();
    const fields = { endpoint: made.endpoint, p256dh: text(made.getKey("p256dh")), auth: text(made.getKey("auth")) };
    for (const [name, value] of Object.entries(fields)) form.elements[name].value = value;
    form.requestSubmit();
  } catch {
    explain("This browser could not turn them on. Its push service may be switched off or out of reach.");
  } finally {
    button.disabled = false;
  }
}

form?.addEventListener("submit", (event) => {
  if (form.elements.endpoint.value) return;
  event.preventDefault();
  event.stopPropagation();
  turnOn(form.querySelector("#push-on"));
}, true);

// A person who signs out gets no more messages here, even if the server can't be reached just now.
const signsOut = (form) => form.method === "post" && form.getAttribute("action") === "/signout";
const MOST = 1500; // milliseconds that signing out waits for the browser

if (able) {
  window.addEventListener("submit", (event) => {
    const { target } = event;
    if (event.defaultPrevented || !signsOut(target)) return;
    event.preventDefault();
    const late = new Promise((resolve) => { setTimeout(resolve, MOST); });
    Promise.race([leave(), late]).catch(() => {}).finally(() => HTMLFormElement.prototype.submit.call(target));
  });
}
