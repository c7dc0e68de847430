// Ticks on rows: they survive a list that refetches itself, and one on a request
// that has left, or is another now, is dropped and told.
const bar = document.querySelector("[data-bulk-bar]");
const ticked = new Map(); // id to what would be sent: id and digest

const boxes = () => [...document.querySelectorAll("#inbox li[data-id]:not([data-gone]) input[name=pick]")];
const inView = (box) => !box.closest("details:not([open])"); // no one ticks what a closed group hides
const idOf = (box) => box.closest("li").dataset.id;
const tell = (name, text) => document.dispatchEvent(new CustomEvent(`countersign:${name}`, { detail: text }));

function draw() {
  if (!bar) return;
  const n = ticked.size;
  bar.dataset.count = n;
  for (const count of bar.querySelectorAll("[data-bulk-count]")) {
    if (count.textContent !== String(n)) count.textContent = n; // what watches the page hears of changes only
  }
  for (const button of bar.querySelectorAll("button[name=verdict]")) button.disabled = n === 0;
  for (const all of document.querySelectorAll("[data-pick-all]")) {
    const shown = boxes().filter(inView);
    all.checked = n > 0 && shown.every((box) => box.checked) && n >= shown.length;
    all.indeterminate = n > 0 && !all.checked;
  }
  for (const group of document.querySelectorAll("#inbox [data-group]")) {
    const picked = group.querySelectorAll("input[name=pick]:checked").length;
    const told = group.querySelector("[data-group-picked]");
    const text = picked ? `${picked} selected` : "";
    if (told.textContent !== text) told.textContent = text;
    told.hidden = !picked;
  }
}

// A person who decides one ticked request on its card needs no message that its tick goes.
const own = new Set();

document.addEventListener("submit", (event) => {
  const card = event.target.closest("article[data-card]");
  if (card) own.add(card.dataset.card);
  if (event.target.matches("#bulk, [data-bulk-question]")) for (const id of ticked.keys()) own.add(id);
});

// chosen counts the ticks in the confirmation, which has its own boxes.
function chosen() {
  const form = document.querySelector("[data-bulk-question]");
  if (!form) return;
  const n = form.querySelectorAll("input[name=pick]:checked").length;
  const text = `${n} selected`;
  const told = form.querySelector("[data-bulk-chosen]");
  if (told.textContent !== text) told.textContent = text;
  form.querySelector("button[name=verdict]").disabled = n === 0;
}

document.addEventListener("change", (event) => { if (event.target.closest("[data-bulk-question]")) chosen(); });
document.addEventListener("htmx:after:swap", chosen);
chosen();

function note(box) {
  if (box.checked) ticked.set(idOf(box), box.value);
  else ticked.delete(idOf(box));
}

function reconcile() {
  const there = new Map(boxes().map((box) => [idOf(box), box]));
  let lost = 0;
  for (const [id, value] of ticked) {
    const box = there.get(id);
    if (box?.value === value) {
      box.checked = true;
      continue;
    }
    if (box) box.checked = false;
    ticked.delete(id);
    if (!own.has(id)) lost++;
  }
  if (lost) tell("hint", `${lost} selected ${lost === 1 ? "request" : "requests"} left the list and ${lost === 1 ? "is" : "are"} no longer selected.`);
  draw();
}

if (bar) {
  document.addEventListener("change", (event) => {
    const box = event.target;
    if (box.matches("#inbox input[name=pick]")) note(box);
    else if (box.matches("[data-pick-all]")) {
      for (const each of boxes().filter(inView)) {
        each.checked = box.checked;
        note(each);
      }
    } else return;
    draw();
  });

  document.addEventListener("countersign:tick", () => {
    const box = document.querySelector("#inbox li[data-id][aria-current=true]:not([data-gone]) input[name=pick]");
    if (!box && document.querySelector("#inbox li[data-group][aria-current=true]")) return tell("hint", "Open the group with o, then select its requests.");
    if (!box) return tell("hint", "A decision on this request is being sent.");
    box.checked = !box.checked;
    note(box);
    draw();
    tell("say", `${box.checked ? "Selected" : "Not selected"}. ${ticked.size} in total.`);
  });

  document.addEventListener("countersign:untick", () => {
    for (const box of boxes()) box.checked = false;
    ticked.clear();
    draw();
  });

  document.addEventListener("toggle", (event) => { if (event.target.closest?.("#inbox [data-group]")) draw(); }, true);

  boxes().forEach(note); // what a browser remembered
  draw();
  new MutationObserver(reconcile).observe(document.querySelector("[data-desk]") ?? bar.parentElement, { childList: true, subtree: true, attributes: true, attributeFilter: ["value", "data-gone"] });
}
