// Back and forward lead to where a person was. The browser keeps the scroll position of the window. That of a pane is
// kept here, in this tab, by the entry of the history: a page that the browser did not cache is loaded again and
// begins at its top.
const KEY = "countersign:places";
const MOST = 50; // entries whose places are kept
const entry = () => globalThis.navigation?.currentEntry?.key ?? location.pathname;
const panes = () => [...document.querySelectorAll("main #inbox, main #detail")];
const [visit] = performance.getEntriesByType("navigation");

function read() {
  try { return JSON.parse(sessionStorage.getItem(KEY)) ?? []; } catch { return []; }
}

function write(all) {
  try { sessionStorage.setItem(KEY, JSON.stringify(all.slice(-MOST))); } catch { /* this page only */ }
}

function keep() {
  const tops = panes().map((pane) => [pane.id, pane.scrollTop]).filter(([, top]) => top > 0);
  const others = read().filter(([key]) => key !== entry());
  write(tops.length ? [...others, [entry(), tops]] : others);
}

function restore() {
  const [, tops] = read().find(([key]) => key === entry()) ?? [];
  for (const [id, top] of tops ?? []) {
    const pane = document.getElementById(id);
    if (pane) pane.scrollTop = top;
  }
}

if (visit?.type === "back_forward" || visit?.type === "reload") restore();
window.addEventListener("pagehide", keep);
