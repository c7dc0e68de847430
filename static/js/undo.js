// A verdict that may be taken back counts down (time.js ticks it); when its time
// is over, what offers it goes.
const sent = Date.parse(document.documentElement.dataset.now ?? "");
const offset = Number.isNaN(sent) ? 0 : sent - Date.now();

function draw() {
  const now = Date.now() + offset;
  for (const offer of document.querySelectorAll("[data-until]")) {
    const until = Date.parse(offer.dataset.until);
    const whole = offer.closest("[data-undo]") ?? offer.closest("form") ?? offer;
    if (!Number.isNaN(until) && !whole.hidden && until <= now) whole.hidden = true;
  }
}

draw();
setInterval(draw, 250);
document.addEventListener("htmx:after:swap", draw);
