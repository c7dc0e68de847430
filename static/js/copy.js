// Copy buttons: data-copy names the element whose text is copied, and the button
// says so in its own place.
// Folded code is several blocks; what opens them is not part of the text.
function content(source) {
  if (source.matches("textarea")) return source.value;
  const blocks = [...source.querySelectorAll("pre")];
  return (blocks.length ? blocks : [source]).map((block) => block.textContent).join("");
}

async function write(text, source) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No clipboard without TLS: select the text, so that one key copies it.
    if (source.matches("textarea")) {
      source.select();
      return document.execCommand("copy");
    }
    const range = document.createRange();
    range.selectNodeContents(source);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  const source = button && document.getElementById(button.dataset.copy);
  if (!source) return;
  const label = button.querySelector("[data-label]") ?? button;
  const was = button.dataset.was ??= label.textContent;
  label.textContent = (await write(content(source), source)) ? "copied" : "press Ctrl+C";
  clearTimeout(button.timer);
  button.timer = setTimeout(() => { label.textContent = was; }, 2000);
});
