// Ticks every relative time on the page together. The server's clock counts: the
// page carries its time, and this browser's offset from it is taken once.
const sent = Date.parse(document.documentElement.dataset.now ?? "");
const offset = Number.isNaN(sent) ? 0 : sent - Date.now();

const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

function length(seconds) {
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0 s";
  const [name, size] = units[first];
  const whole = `${Math.floor(seconds / size)} ${name}`;
  const next = units[first + 1];
  if (!next || seconds >= size * 10) return whole;
  const rest = Math.floor((seconds % size) / next[1]);
  return rest ? `${whole} ${rest} ${next[0]}` : whole;
}

function clock(seconds) {
  if (seconds >= 86400) return length(seconds);
  const h = Math.floor(seconds / 3600), m = Math.floor(seconds / 60) % 60, s = seconds % 60;
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

const two = (n) => String(n).padStart(2, "0");

const stamp = (at) => {
  const d = new Date(at);
  const day = [d.getFullYear(), two(d.getMonth() + 1), two(d.getDate())].join("-");
  return `${day} ${[d.getHours(), d.getMinutes(), d.getSeconds()].map(two).join(":")}`;
};

// How far the reader's clock is from UTC at a time: "UTC", "UTC+02:00".
function shift(at) {
  const minutes = -new Date(at).getTimezoneOffset();
  if (!minutes) return "UTC";
  const far = Math.abs(minutes);
  return `UTC${minutes < 0 ? "−" : "+"}${two(Math.floor(far / 60))}:${two(far % 60)}`;
}

const exact = (at) => `${stamp(at)} ${shift(at)}`;

function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function draw(element, now) {
  const at = Date.parse(element.dateTime);
  if (Number.isNaN(at)) return;
  const title = exact(at);
  if (element.title !== title) element.title = title;
  const form = element.dataset.time;
  if (form === "exact") {
    set(element, title);
  } else if (form === "stamp") {
    set(element, stamp(at));
  } else if (form === "ago" || form === "for") {
    const seconds = Math.max(0, Math.floor((now - at) / 1000));
    const past = seconds >= 60 && seconds < 3600 ? `${Math.floor(seconds / 60)} min` : length(seconds);
    if (form === "for") set(element, past);
    else set(element, seconds < 1 ? "just now" : `${past} ago`);
  } else if (form === "seconds") {
    set(element, length(Math.max(0, Math.ceil((at - now) / 1000))));
  } else if (form === "left") {
    const seconds = Math.max(0, Math.ceil((at - now) / 1000));
    const whole = Math.max(1, (at - Date.parse(element.dataset.since)) / 1000);
    const part = seconds / whole;
    set(element, seconds ? `${clock(seconds)} left` : "time is up");
    element.dataset.level = part < 0.05 ? "red" : part < 0.2 ? "amber" : "calm";
  }
}

// lapse has what holds until a time look again then, for nothing else may tell it.
function lapse(now) {
  for (const element of document.querySelectorAll("[data-lapses]")) {
    if (!(Date.parse(element.dataset.lapses) <= now)) continue;
    element.removeAttribute("data-lapses");
    element.dispatchEvent(new CustomEvent("countersign:lapsed"));
  }
}

function tick() {
  const now = Date.now() + offset;
  lapse(now);
  for (const element of document.querySelectorAll("time[data-time]")) draw(element, now);
}

// Names the reader's zone where times are in it, and has forms send it with days.
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

function nameZone() {
  if (!zone || zone === "Etc/Unknown") return;
  if (!document.cookie.includes(`countersign-zone=${zone}`)) document.cookie = `countersign-zone=${zone};path=/;max-age=31536000;samesite=lax`;
  for (const element of document.querySelectorAll("[data-zone-name]")) set(element, zone);
  for (const field of document.querySelectorAll("input[data-zone-field]")) if (field.value !== zone) field.value = zone;
  // Once, and as what the field held at first: it is no change of the reader's.
  for (const field of document.querySelectorAll("input[data-zone-offer]")) {
    if (field.value === field.defaultValue) field.value = field.defaultValue = zone;
    field.removeAttribute("data-zone-offer");
  }
}

tick();
nameZone();
setInterval(() => { if (!document.hidden) tick(); }, 1000);
document.addEventListener("visibilitychange", tick);
document.addEventListener("htmx:after:swap", () => { tick(); nameZone(); });
