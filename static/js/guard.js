// A part of the page that a person is filling in is never swapped away while it can still be sent. When its fresh form
// differs (data-state), a line says so and offers to reload. A settled request shows at once who did what, with the
// person's text beside it.
const filled = (field) => {
  if (field.type === "hidden" || field.disabled) return false;
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field instanceof HTMLSelectElement) return [...field.options].some((o) => o.selected !== o.defaultSelected);
  return field.value !== field.defaultValue;
};

// The answer to a sent form (data-kept) is kept as well: its text is not a change to its own page.
function busy(region) {
  if (region.hasAttribute("data-kept")) return true;
  const active = document.activeElement;
  if (region.contains(active) && active.matches("textarea, input:not([type=hidden]), select")) return true;
  return [...region.querySelectorAll("input, textarea, select")].some(filled);
}

const parse = (html) => new DOMParser().parseFromString(html, "text/html");

const KEPT = "[data-kept-text] textarea";
const FIELDS = "textarea, input:not([type=hidden], [type=checkbox], [type=radio], [type=password])";
const decides = (part) => part.querySelector("form[data-verdict], [data-kept-text]") !== null;

// typed is what somebody wrote in a part of the page, each text with its label where
// there are several.
function typed(region) {
  const fields = [...region.querySelectorAll(FIELDS)].filter((field) => field.value.trim() && filled(field));
  if (fields.length === 1) return fields[0].value;
  return fields.map((field) => `${field.labels?.[0]?.textContent.trim().split(/\s{2,}|\n/)[0] ?? field.name}: ${field.value}`).join("\n");
}

let over = null; // the text from a part that is swapped away: { id, said, text, writing }

function put() {
  const { id, said, text, writing } = over;
  over = null;
  const region = document.getElementById(id);
  const kept = region && document.getElementById("kept-template")?.content.cloneNode(true).firstElementChild;
  if (!kept) return;
  for (const old of document.querySelectorAll("[data-kept-text]")) old.remove();
  kept.querySelector("[data-kept-said]").textContent = said;
  const field = kept.querySelector("textarea");
  field.value = text;
  kept.querySelector("[data-kept-next]").href = region.querySelector(".outcome-next a")?.href ?? "/";
  region.prepend(kept);
  if (!text && !writing) {
    field.remove();
    kept.querySelector("p > span").remove();
    kept.querySelector("[data-copy]").remove();
  } else if (writing) {
    field.focus({ preventScroll: true }); // keys go on where they went
  }
  kept.scrollIntoView({ block: "nearest" });
}

// ends keeps the text from a part whose request its reader can't decide any more.
function ends(region, fresh) {
  if (!fresh?.dataset.over || !decides(region) || fresh.querySelector("form[data-verdict]")) return false;
  const active = document.activeElement;
  over = { id: region.id, said: fresh.dataset.over, text: typed(region), writing: region.contains(active) && active.matches(FIELDS) };
  return true;
}

document.addEventListener("htmx:before:swap", (event) => {
  const ctx = event.detail?.ctx;
  const region = ctx?.target;
  if (!(region instanceof Element) || !region.hasAttribute("data-guard")) return;
  if (ctx.sourceElement !== region || !busy(region)) return;
  if (sent && region.contains(sent)) return event.preventDefault(); // its answer comes
  const parsed = parse(ctx.text ?? "");
  const fresh = parsed.getElementById(region.id);
  if (!region.hasAttribute("data-kept") && ends(region, fresh)) return;
  event.preventDefault();
  if (parsed.querySelector("[data-state]")?.dataset.state === region.dataset.state) return;
  const note = region.querySelector("[data-guard-note]");
  if (note) note.hidden = false;
});

let sent = null; // the form that is on its way
document.addEventListener("htmx:before:request", (event) => {
  const { ctx } = event.detail;
  if (ctx.request.method === "POST" && ctx.sourceElement instanceof Element) sent = ctx.sourceElement;
});
document.addEventListener("htmx:finally:request", (event) => { if (event.target === sent || !sent?.isConnected) sent = null; });

document.addEventListener("htmx:after:swap", () => { if (over) put(); });

document.addEventListener("click", (event) => {
  if (event.target.closest("#detail [data-kept-next]") && document.querySelector("#inbox li[data-id]:not([data-gone])")) {
    event.preventDefault();
    event.target.closest("[data-kept-text]").remove();
    document.dispatchEvent(new CustomEvent("countersign:go", { detail: 1 }));
  }
  if (event.target.closest("[data-reload]")) {
    event.preventDefault();
    location.reload();
  }
});
