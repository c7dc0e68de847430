// Messages of other modules: a hint is shown and read aloud, and disappears after a while; a say is only read aloud.
const hint = document.querySelector("[data-hint]");
const voice = document.querySelector("[data-say]");
const STAYS = 5000;
let timer = 0;

// What a hint may be about, or may be needed next: it lies over none of these.
const ABOUT = [
  ".decide", ".composer", ".bulk-bar", "[data-newer]", ".dangers", "main form :is(button, input, textarea, select, label)", "dialog[open]",
  "#inbox li[aria-current=true]", "#detail .approval-head", ".guard-note:not([hidden])", ":focus:not(main, section, article, body)",
].join();
const GAP = 6;

// place finds room: over the bar at the top, else the first place further down.
function place() {
  hint.style.top = `${GAP}px`;
  const { left, right, height } = hint.getBoundingClientRect();
  const busy = [...document.querySelectorAll(ABOUT)].filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect())
    .filter((rect) => rect.height > 0 && rect.left < right && rect.right > left);
  for (let top = GAP; top + height < innerHeight; top += GAP) {
    if (busy.some((rect) => rect.top < top + height && rect.bottom > top)) continue;
    hint.style.top = `${top}px`;
    return;
  }
}

document.addEventListener("countersign:hint", (event) => {
  if (!hint) return;
  hint.textContent = event.detail;
  place();
  clearTimeout(timer);
  timer = setTimeout(() => { hint.textContent = ""; }, STAYS);
});

document.addEventListener("countersign:say", (event) => {
  if (voice) voice.textContent = event.detail;
});
