// The list does not move under whoever is about to click in it. New requests come
// in below what is looked at; those that belong above wait behind a button that
// counts them. What leaves keeps its place for a while, as a line.
const STAYS = 4000;
const desk = document.querySelector("[data-desk]");
const say = (text) => document.dispatchEvent(new CustomEvent("countersign:say", { detail: text }));
const refetch = () => document.getElementById("live")?.dispatchEvent(new CustomEvent("inbox", { bubbles: true }));

const section = () => document.getElementById("inbox");
const list = () => document.querySelector("#inbox ol.rows");
const items = (from) => [...from?.querySelectorAll("ol.rows > li[data-id]") ?? []];
const idOf = (li) => li.dataset.id;
const gone = (li) => li.hasAttribute("data-gone");

const since = new Map(); // id of a line that left to when it did
const heights = new Map(); // id of a row to its height, which a line in its place keeps
let held = new Map(); // id to row, in the server's order
let order = []; // ids as the server gave them last
let over = false;
let asOf = section()?.dataset.asOf ?? ""; // when the server read the list that is shown

// The list has two ways here, its own refetch and the answer to a decision, and
// one may overtake the other. Both carry the order in which the server read them.
function stale(fresh) {
  const [, server, n] = asOf.match(/^(\w+)-(\d+)$/) ?? [];
  const [, other, m] = (fresh.dataset?.asOf ?? "").match(/^(\w+)-(\d+)$/) ?? [];
  return server !== undefined && server === other && Number(m) < Number(n);
}

// anchored is how many of the rows stay as they are, counted from the top.
function anchored(live) {
  const bottom = Math.min(innerHeight, section().getBoundingClientRect().bottom);
  const seen = live.filter((li) => li.getBoundingClientRect().top < bottom).length;
  const ticked = section().querySelector("input[name=pick]:checked") !== null;
  const focus = document.activeElement;
  if (over || ticked || section().contains(focus) && focus !== section()) return seen;
  return live.findIndex((li) => li.getAttribute("aria-current") === "true") + 1;
}

// line stands where a row stood that has left.
function line(li, text) {
  const out = document.createElement("li");
  out.className = "row row-gone";
  out.id = li.id;
  out.dataset.id = idOf(li);
  out.dataset.url = li.dataset.url ?? "";
  out.dataset.gone = "elsewhere";
  if (li.getAttribute("aria-current")) out.setAttribute("aria-current", "true");
  const words = document.createElement("p");
  words.dataset.goneText = "";
  const name = li.querySelector(".row-tool")?.cloneNode(true);
  if (name) words.append(name, " ");
  words.append(text);
  const link = document.createElement("a");
  link.href = li.dataset.url ?? "";
  link.textContent = "See the outcome";
  const ask = document.createElement("input"); // the next time the server says what became of it
  ask.type = "hidden";
  ask.name = "gone";
  ask.value = idOf(li);
  out.append(words, link, ask);
  return out;
}

// left is what becomes of a row that the server no longer gives.
function left(li, last, more) {
  if (gone(li)) {
    const copy = li.cloneNode(true);
    copy.removeAttribute("style");
    return copy;
  }
  if (more && last) return null; // it went to the next page, from the end of this one
  return line(li, "is no longer waiting.");
}

function merge(fresh) {
  const live = items(section());
  const given = items(fresh);
  const byId = new Map(given.map((li) => [idOf(li), li]));
  const place = new Map(given.map((li, n) => [idOf(li), n]));
  const more = fresh.querySelector("a[rel=next]") !== null;
  const lastKept = live.findLastIndex((li) => byId.has(idOf(li)));
  const at = anchored(live);
  const known = new Set(live.map(idOf));

  const out = [];
  let deepest = -1;
  const stands = new Set();
  const follows = new Map(); // id of a row below the anchor to the lines after it
  let before = "";
  live.forEach((li, n) => {
    const id = idOf(li);
    const now = byId.get(id);
    if (now && n < at) {
      deepest = Math.max(deepest, place.get(id));
      stands.add(id);
      out.push(now);
    } else if (now) {
      before = id;
    } else {
      const rest = left(li, n > lastKept, more);
      if (rest && n < at) out.push(rest);
      else if (rest) follows.set(before, [...follows.get(before) ?? [], rest]);
    }
  });

  const waited = held;
  held = new Map();
  out.push(...follows.get("") ?? []);
  for (const li of given) {
    const id = idOf(li);
    // A line for a row that is not here has been read and swept while the answer was on its way.
    if (stands.has(id) || gone(li) && !known.has(id)) continue;
    if (!known.has(id) && place.get(id) < deepest) held.set(id, li);
    else out.push(li, ...follows.get(id) ?? []);
  }
  order = given.map(idOf);
  asOf = fresh.dataset.asOf ?? "";

  if (out.length) put(fresh, out);
  offer(fresh);
  if ([...held.keys()].some((id) => !waited.has(id))) say(`${held.size} new above.`);
}

function put(fresh, rows) {
  let ol = fresh.querySelector("ol.rows");
  if (!ol) { // the list has become empty, but for lines that are still to be read
    ol = (list() ?? document.createElement("ol")).cloneNode(false);
    ol.className = "rows";
    const empty = fresh.querySelector(".empty-state");
    if (empty) empty.replaceWith(ol);
    else fresh.append(ol);
  }
  ol.replaceChildren(...rows);
}

// offer shows how many wait behind the button.
function offer(where) {
  let button = where.querySelector("[data-newer]");
  const ol = where.querySelector("ol.rows");
  if (!button && ol && held.size) {
    button = document.createElement("button");
    button.type = "button";
    button.className = "newer";
    button.dataset.newer = "";
    ol.before(button);
  }
  if (!button) return;
  button.hidden = held.size === 0;
  const text = held.size ? `${held.size} new` : "";
  if (button.textContent !== text) button.textContent = text;
}

// release puts in what was held back, where the server has it.
function release() {
  let first = null;
  for (const [id, li] of held) {
    const before = order.slice(0, order.indexOf(id)).reverse().map((other) => document.getElementById(`row-${other}`)).find(Boolean);
    if (before) before.after(li);
    else list()?.prepend(li);
    window.htmx?.process(li);
    first ??= li;
  }
  held = new Map();
  if (section()) offer(section());
  return first;
}

// sweep takes the lines away whose time is over, unless somebody points at them.
function sweep() {
  const now = performance.now();
  let next = Infinity;
  let swept = false;
  for (const li of items(section()).filter(gone)) {
    const until = (since.get(idOf(li)) ?? now) + STAYS;
    const offered = [...li.querySelectorAll("[data-act=undo]")].some((button) => button.checkVisibility());
    if (over || li.contains(document.activeElement)) continue;
    if (until > now || offered) {
      next = Math.min(next, Math.max(until - now, 250));
      continue;
    }
    since.delete(idOf(li));
    li.remove();
    swept = true;
  }
  if (swept && list()?.childElementCount === 0) refetch(); // what an empty list says comes from the server
  if (next < Infinity) setTimeout(sweep, next);
}

// own is whether a swap comes by itself or after a decision, or one taken back: what a person looks
// for by a filter or a page replaces all.
const own = (source) => source?.id === "inbox" || source?.closest?.("[data-card], [data-gone], [data-undo], [data-several], #bulk");

const listOf = (task) => task.fragment.querySelector?.("#inbox") ?? (task.target?.id === "inbox" ? task.fragment : null);
const counts = (task) => (task.target?.id ?? task.target) === "inbox-count" || task.target === "#inbox-count";

if (desk) {
  document.addEventListener("htmx:before:swap", (event) => {
    const { ctx, tasks } = event.detail;
    if (tasks.some((task) => listOf(task) && stale(listOf(task)))) {
      const rest = tasks.filter((task) => !listOf(task) && !counts(task));
      tasks.splice(0, tasks.length, ...rest);
      refetch(); // so that nothing is missed, should it have known more in other ways
    }
    for (const task of tasks) {
      const fresh = listOf(task);
      if (!fresh || !section()) continue;
      if (own(ctx.sourceElement)) merge(fresh);
      else {
        held = new Map();
        asOf = fresh.dataset?.asOf ?? "";
      }
      for (const li of items(section()).filter((row) => !gone(row))) heights.set(idOf(li), li.offsetHeight);
    }
  });

  document.addEventListener("htmx:after:swap", () => {
    const now = performance.now();
    for (const li of items(section()).filter(gone)) {
      if (since.has(idOf(li))) continue;
      since.set(idOf(li), now);
    }
    for (const li of items(section())) {
      const height = gone(li) ? heights.get(idOf(li)) : 0;
      const text = height ? `${height}px` : "";
      if (li.style.height !== text) li.style.height = text;
    }
    sweep();
  });

  document.addEventListener("pointerover", (event) => {
    const was = over;
    over = section()?.contains(event.target) ?? false;
    if (!was || over) return;
    sweep();
    if (held.size) refetch(); // some may come in now
  });
  document.documentElement.addEventListener("pointerleave", () => { over = false; sweep(); });

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-newer]")) return;
    const first = release();
    first?.scrollIntoView({ block: "nearest" });
    first?.querySelector(".row-link")?.focus({ preventScroll: true });
  });
  document.addEventListener("countersign:newer", () => release());
}
