// The service worker shows a page of its own where there is no network (js/sw.js). It is
// asked for when the page has all that it needs. Browsers have none off https and this machine.
if ("serviceWorker" in navigator) {
  window.addEventListener("load", () => { navigator.serviceWorker.register("/sw.js", { updateViaCache: "none" }).catch(() => {}); });
}
