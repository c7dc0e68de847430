// What other modules want told: a hint is seen and read aloud, and goes by
// itself; what is said is only read aloud.
const hint = document.querySelector("[data-hint]");
const voice = document.querySelector("[data-say]");
const STAYS = 5000;
let timer = 0;

document.addEventListener("countersign:hint", (event) => {
  if (!hint) return;
  hint.textContent = event.detail;
  clearTimeout(timer);
  timer = setTimeout(() => { hint.textContent = ""; }, STAYS);
});

document.addEventListener("countersign:say", (event) => {
  if (voice) voice.textContent = event.detail;
});
