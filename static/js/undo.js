// An approval that may be undone counts down (time.js ticks it); when its time is over its buttons go, and a little
// later the strip that reports the decision.
const STAYS = 5000;
const sent = Date.parse(document.documentElement.dataset.now ?? "");
const offset = Number.isNaN(sent) ? 0 : sent - Date.now();

function draw() {
  const now = Date.now() + offset;
  for (const offer of document.querySelectorAll("[data-until]")) {
    const until = Date.parse(offer.dataset.until);
    const whole = offer.closest("[data-undo]") ?? offer.closest("form") ?? offer;
    if (!Number.isNaN(until) && !whole.hidden && until <= now) whole.hidden = true;
  }
  const strip = document.querySelector("#done[data-ends]:not([hidden])");
  if (strip && Date.parse(strip.dataset.ends) + STAYS <= now) strip.hidden = true;
}

draw();
setInterval(draw, 250);
document.addEventListener("htmx:after:swap", draw);
