// The list does not move under a reader who is about to click in it. New requests come in below the ones in view;
// those that belong above wait behind a button that counts them. A request that leaves is shown for a while as it was,
// struck out.
const STAYS = 5000;
const desk = document.querySelector("[data-desk]");
const say = (text) => document.dispatchEvent(new CustomEvent("countersign:say", { detail: text }));
const refetch = () => document.getElementById("live")?.dispatchEvent(new CustomEvent("inbox", { bubbles: true }));

const section = () => document.getElementById("inbox");
const list = () => document.querySelector("#inbox ol.rows");
const items = (from) => [...from?.querySelectorAll("ol.rows li[data-id]") ?? []];
const groupOf = (li) => li.closest("li[data-group]");
const idOf = (li) => li.dataset.id;
const gone = (li) => li.hasAttribute("data-gone");

const since = new Map(); // id of a row that left to when it did
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

// struck is the row of a request that has left, as it stood.
function struck(li) {
  const out = li.cloneNode(true);
  if (gone(li)) return out;
  out.dataset.gone = "elsewhere";
  for (const name of ["data-held", "data-bulk"]) out.removeAttribute(name);
  for (const part of out.querySelectorAll(".row-pick > *, .row-undo, .row-signals, .row-link > .sr-only")) part.remove();
  const text = document.createElement("span");
  text.className = "row-outcome";
  text.dataset.goneText = "";
  text.textContent = "No longer waiting";
  out.querySelector(".row-left").replaceChildren(text);
  const summary = out.querySelector(".row-summary");
  const words = document.createElement("s");
  words.className = summary.className;
  words.append(...summary.childNodes);
  summary.replaceWith(words);
  const ask = out.querySelector("[name=gone]") ?? document.createElement("input"); // the next answer says what became of it
  ask.type = "hidden";
  ask.name = "gone";
  ask.value = idOf(li);
  out.append(ask);
  return out;
}

// left is what becomes of a row that the server no longer gives: none if it went to the next page, from the end of this one.
const left = (li, last, more) => (!gone(li) && more && last ? null : struck(li));

function merge(fresh) {
  const live = items(section());
  const given = items(fresh);
  const byId = new Map(given.map((li) => [idOf(li), li]));
  const place = new Map(given.map((li, n) => [idOf(li), n]));
  const more = fresh.querySelector("a[rel=next]") !== null;
  const lastKept = live.findLastIndex((li) => byId.has(idOf(li)));
  const at = anchored(live);
  const known = new Set(live.map(idOf));
  const groups = new Map(); // row that is shown to the group that it goes into
  const before = new Map(live.map((li) => [idOf(li), groupOf(li)])); // id to the group it was in
  const after = keep(live, given);

  const out = [];
  let deepest = -1;
  const stands = new Set();
  const follows = new Map(); // id of a row below the anchor to the lines after it
  let previous = "";
  live.forEach((li, n) => {
    const id = idOf(li);
    const now = byId.get(id);
    if (now && gone(now) && li.dataset.others) now.dataset.others = li.dataset.others; // it stays on its side of the line
    if (now && n < at) {
      deepest = place.get(id); // the rows that stay may be in another order by now: what belongs above the last of them waits
      stands.add(id);
      groups.set(now, after.get(before.get(id)) ?? null);
      out.push(now);
    } else if (now) {
      previous = id;
    } else {
      const rest = left(li, n > lastKept, more);
      if (rest) groups.set(rest, after.get(before.get(id)) ?? null);
      if (rest && n < at) out.push(rest);
      else if (rest) follows.set(previous, [...follows.get(previous) ?? [], rest]);
    }
  });

  const waited = held;
  held = new Map();
  out.push(...follows.get("") ?? []);
  for (const li of given) {
    const id = idOf(li);
    // A line for a row that is not here has been read and swept while the answer was on its way.
    if (stands.has(id) || gone(li) && !known.has(id)) continue;
    groups.set(li, groups.get(li) ?? groupOf(li));
    const group = groupOf(li);
    const last = group ? out.findLastIndex((other) => groups.get(other) === group) : -1;
    if (known.has(id) || place.get(id) > deepest || li.getAttribute("aria-current") === "true") { // what opens now is in sight
      out.push(li, ...follows.get(id) ?? []);
    } else if (last >= 0 && document.getElementById(group.id)?.querySelector("details:not([open])")) {
      out.splice(last + 1, 0, li); // out of sight it moves nothing
    } else {
      li.dataset.within = group?.id ?? "";
      held.set(id, li);
    }
  }
  order = given.map(idOf);
  asOf = fresh.dataset.asOf ?? "";
  notice(given.filter((li) => !known.has(idOf(li)) && !waited.has(idOf(li)) && !gone(li)), live);
  if (out.length) put(fresh, inGroups(out, groups));
  offer();
  if ([...held.keys()].some((id) => !waited.has(id))) say(urgentText() || `${held.size} new above.`);
}

// keep gives the groups that are shown to the fresh ones: a group that has rows of one that is
// shown is that one, and open if that is. Rows that are not moved stay in the group they are in.
function keep(live, given) {
  const shown = new Map(live.filter(groupOf).map((li) => [idOf(li), groupOf(li)]));
  const after = new Map();
  for (const li of given) {
    const group = groupOf(li);
    const was = shown.get(idOf(li));
    if (!group || !was || after.has(was) || [...after.values()].includes(group)) continue;
    after.set(was, group);
    group.id = was.id;
    group.querySelector("details").open = was.querySelector("details").open;
    if (was.getAttribute("aria-current")) group.setAttribute("aria-current", "true");
  }
  for (const was of new Set(shown.values())) if (!after.has(was)) after.set(was, was.cloneNode(true));
  return after;
}

// inGroups puts consecutive rows into the group that they belong to. A row that follows its group after another row is
// shown alone: rows keep their order.
function inGroups(rows, groups) {
  const top = [];
  const used = new Set();
  let open = null;
  for (const li of rows) {
    const group = groups.get(li) ?? null;
    if (group && group === open) {
      group.querySelector("ol.rows").append(li);
      continue;
    }
    open = group && !used.has(group) ? group : null;
    if (open) {
      used.add(open);
      open.querySelector("ol.rows").replaceChildren(li);
    }
    top.push(open ?? li);
  }
  used.forEach(tally);
  return top.flatMap((li) => (few(li) ? [...li.querySelectorAll("li[data-id]")] : [li]));
}

// few is whether a group that is not shown yet would hide too little to be one.
const few = (li) => li.matches("[data-group]") && !document.getElementById(li.id) && li.querySelectorAll("li[data-id]").length < 3;

// tally says how many requests a group has, and the soonest deadline of them.
function tally(group) {
  const waiting = [...group.querySelectorAll("li[data-id]:not([data-gone])")];
  const count = group.querySelector("[data-group-count]");
  if (count.textContent !== String(waiting.length)) count.textContent = waiting.length;
  count.parentElement.hidden = waiting.length === 1;
  const times = waiting.map((li) => li.querySelector(".row-left > time")).filter(Boolean);
  const soonest = times.sort((a, b) => Date.parse(a.dateTime) - Date.parse(b.dateTime))[0];
  const left = group.querySelector("[data-group-left]");
  if (left.querySelector("time")?.dateTime !== soonest?.dateTime) left.replaceChildren(...soonest ? [soonest.cloneNode(true)] : []);
}

// A new request that is more urgent than all that are shown is named, with its risk and the
// time that is left: of a higher risk (high at least), or with a sooner deadline. The list does
// not move for it, so that no click meets it unasked.
let urgent = ""; // its id

const rank = (li) => Number(li.dataset.rank ?? 9);
const deadline = (li) => Date.parse(li.querySelector(".row-left > time")?.dateTime ?? "") || Infinity;
const least = (rows, of) => Math.min(Infinity, ...rows.map(of));

function notice(fresh, live) {
  const waiting = live.filter((li) => !gone(li));
  if (!waiting.length) return;
  const most = least(waiting, rank);
  const first = least(waiting, deadline);
  const over = fresh.filter((li) => rank(li) < Math.min(most, 2) || deadline(li) < first);
  const now = over.sort((a, b) => rank(a) - rank(b) || deadline(a) - deadline(b))[0];
  if (!now) return;
  const before = held.get(urgent) ?? document.getElementById(`row-${urgent}`);
  if (!before || rank(now) < rank(before) || rank(now) === rank(before) && deadline(now) < deadline(before)) urgent = idOf(now);
}

const urgentRow = () => (urgent ? held.get(urgent) ?? document.getElementById(`row-${urgent}`) : null);

// hidden is whether a row is not to be seen in the list as it is scrolled.
function hidden(li) {
  const box = section().getBoundingClientRect();
  const { top, bottom } = li.getBoundingClientRect();
  return !li.checkVisibility() || bottom <= Math.max(0, box.top) || top >= Math.min(innerHeight, box.bottom);
}

// missed is the urgent request while it is out of its reader's view.
function missed() {
  const li = urgentRow();
  if (li && !gone(li) && (held.has(urgent) || li.isConnected && li.getAttribute("aria-current") !== "true" && hidden(li))) return li;
  if (!li || !held.has(urgent) && li.isConnected) urgent = "";
  return null;
}

function urgentText() {
  const li = urgentRow();
  if (!li) return "";
  const words = (selector) => li.querySelector(selector)?.textContent.trim().replace(/\s+/g, " ") ?? "";
  return `More urgent: ${[words(".row-risk"), words(".row-agent"), words(".row-tool"), words(".row-left > time")].filter(Boolean).join(", ")}. Press n to go there.`;
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

// offer shows how many wait behind the button, and which of them is urgent.
function offer() {
  const button = document.querySelector("[data-newer]");
  const li = missed();
  button.hidden = held.size === 0 && !li;
  if (li) {
    const rest = held.size - (held.has(urgent) ? 1 : 0);
    if (button.dataset.urgent !== urgent || button.dataset.rest !== String(rest)) button.replaceChildren(...named(li, rest));
    button.dataset.urgent = urgent;
    button.dataset.rest = rest;
    button.toggleAttribute("data-harm", rank(li) < 2);
    return;
  }
  delete button.dataset.urgent;
  const text = held.size ? `${held.size} new` : "";
  if (button.textContent !== text) button.textContent = text;
}

// named is a row in one line: its risk, which tool, the time that is left, and how many more there are.
function named(li, rest) {
  const parts = [".row-risk", ".row-tool", ".row-left > time"].map((part) => li.querySelector(part)?.cloneNode(true)).filter(Boolean);
  return rest > 0 ? [...parts, `+${rest}`] : parts;
}

// release puts the held rows into the list, in the server's order.
function release() {
  let first = null;
  for (const [id, li] of held) {
    const before = order.slice(0, order.indexOf(id)).reverse().map((other) => document.getElementById(`row-${other}`)).find(Boolean);
    const group = document.getElementById(li.dataset.within);
    if (group && before && groupOf(before) === group) before.after(li);
    else if (group) group.querySelector("ol.rows").prepend(li);
    else if (before) (groupOf(before) ?? before).after(li);
    else list()?.prepend(li);
    if (group) tally(group);
    window.htmx?.process(li);
    first ??= li;
  }
  held = new Map();
  offer();
  return first;
}

// go shows the urgent request in its place, and opens it.
function go() {
  const id = urgent;
  urgent = "";
  release();
  document.dispatchEvent(new CustomEvent("countersign:go", { detail: { id } }));
}

// sweep takes the rows away whose time is over, unless that would move a row that somebody points at or has the focus.
function sweep() {
  const now = performance.now();
  let next = Infinity;
  const focused = document.activeElement?.closest("#inbox ol.rows > li");
  const below = (li) => !focused || focused.compareDocumentPosition(li) === Node.DOCUMENT_POSITION_FOLLOWING;
  for (const li of items(section()).filter((row) => gone(row) && below(row))) {
    if (over) return;
    const rest = (since.get(idOf(li)) ?? now) + STAYS - now;
    if (rest > 0) {
      next = Math.min(next, rest);
      continue;
    }
    since.set(idOf(li), Infinity); // once
    close(li);
  }
  if (next < Infinity) setTimeout(sweep, next);
}

const calm = matchMedia("(prefers-reduced-motion: reduce)");

// close takes a row away, and its group with the last one.
async function close(li) {
  const height = `${li.offsetHeight}px`;
  if (!calm.matches) await li.animate({ height: [height, "0px"], opacity: [1, 0] }, 160).finished.catch(() => {}); // swapped meanwhile
  since.delete(idOf(li));
  const group = groupOf(li);
  li.remove();
  if (group && !group.querySelector("li[data-id]")) group.remove();
  if (list()?.childElementCount === 0) refetch(); // what an empty list says comes from the server
}

// own is whether a swap comes from a refetch, a decision or an undo: a filter or another page replaces the whole list.
const own = (source) => source?.id === "inbox" || source?.closest?.("[data-card], [data-gone], [data-undo], [data-several], #bulk");

const listOf = (task) => task.fragment.querySelector?.("#inbox") ?? (task.target?.id === "inbox" ? task.fragment : null);
const counts = (task) => ["inbox-count", "inbox-tally"].some((id) => task.target?.id === id || task.target === id || task.target === `#${id}`);

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
        offer();
      }
    }
  });

  document.addEventListener("htmx:after:swap", () => {
    const now = performance.now();
    const left = items(section()).filter((li) => gone(li) && !since.has(idOf(li)));
    for (const li of left) since.set(idOf(li), now);
    if (left.some((li) => li.dataset.gone === "elsewhere")) refetch(); // what became of it
    sweep();
  });

  document.addEventListener("pointerover", (event) => {
    const was = over;
    over = section()?.contains(event.target) ?? false;
    if (!was || over) return;
    sweep();
    if (held.size) refetch(); // some may come in now
  });
  document.addEventListener("focusout", (event) => { if (section()?.contains(event.target)) setTimeout(sweep); });
  document.documentElement.addEventListener("pointerleave", () => { over = false; sweep(); });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-newer]");
    if (!button) return;
    if (button.dataset.urgent) return go();
    const first = release();
    first?.scrollIntoView({ block: "nearest" });
    first?.querySelector(".row-link")?.focus({ preventScroll: true });
  });
  // The key for the newest goes to the urgent one first.
  document.addEventListener("countersign:newer", (event) => {
    if (!missed()) return release();
    event.preventDefault();
    go();
  });

  document.addEventListener("scroll", () => { if (urgent) offer(); }, { capture: true, passive: true });
}
