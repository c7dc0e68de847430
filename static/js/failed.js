// A person whose form or link gets no answer sees a hint: without a change on the page, the press would seem not to
// have counted.
const hint = (text) => document.dispatchEvent(new CustomEvent("countersign:hint", { detail: text }));

// A part that looks for itself and fails tries again: the dot of the stream tells.
const meant = (ctx) => ctx?.request?.method === "POST" || ctx?.sourceElement?.matches?.("a") === true;

// words are what the server's page of an error says.
function words(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  return [...page.querySelectorAll(".failure > h1, .failure > p:not(.failure-status)")]
    .filter((part) => !part.querySelector(":scope > a, :scope > code"))
    .map((part) => part.textContent.trim().replace(/([^.!?:])$/, "$1."))
    .join(" ");
}

document.addEventListener("htmx:response:error", (event) => {
  const { ctx } = event.detail;
  if (!meant(ctx) || ctx.hx?.reswap !== "none") return; // the page shows the answer
  hint(words(ctx.text ?? "") || "The server couldn't do this. Try again.");
});

document.addEventListener("htmx:error", (event) => {
  const ctx = event.detail?.ctx;
  if (!meant(ctx) || ctx.response) return;
  hint(ctx.request.method === "POST"
    ? "Connection lost. Your decision may have been saved – check before retrying."
    : "Connection lost. Try again.");
});
