// Lists what is drawn otherwise than it is stored: measured by the rectangles of
// characters, block by block and line by line, in all that is open on the page.
(() => {
  const wrong = new Set();
  const clusters = new Intl.Segmenter("en", { granularity: "grapheme" });
  const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\uFFFC\u{16FE4}\u{1D159}]|(?! )\p{Zs}/u;
  const climbs = /\p{M}{5}/u;
  const shownEscape = /⟨(U\+[0-9A-F]{4,6}|0x[0-9A-F]{2})⟩/;
  for (const details of document.querySelectorAll("main details:not(.menu)")) details.open = true;

  const blockOf = (element) => {
    while (getComputedStyle(element).display === "inline") element = element.parentElement;
    return element;
  };
  const clipperOf = (element) => {
    while (element && getComputedStyle(element).overflowY === "visible") element = element.parentElement;
    return element;
  };
  const last = new Map();
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest("script, style, textarea, option, .sr-only")) continue;
    const text = node.data.replace(/[\n\t]/g, " ");
    if (unseen.test(text)) wrong.add(`unseen: ${JSON.stringify(text.slice(0, 80))}`);
    if (climbs.test(text)) wrong.add(`climbs: ${text.slice(0, 40)}`);
    if (parent.closest(".natural")) continue;
    const block = blockOf(parent);
    if (/\p{M}/u.test(text)) {
      const clipper = clipperOf(block);
      if (!clipper || clipper.matches("main, body, html, article, .desk-detail, .desk-list")) wrong.add(`nothing clips ${block.tagName}.${block.className}`);
    }
    for (const { segment, index } of clusters.segment(node.data)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + segment.length);
      const rect = [...range.getClientRects()].filter((r) => r.width > 0 && r.height > 0).at(-1);
      if (!rect) continue;
      const before = last.get(block);
      last.set(block, { rect, segment });
      if (!before) continue;
      const [was, is] = [before.rect, rect];
      const sameLine = Math.abs(was.top + was.bottom - is.top - is.bottom) < Math.min(was.height, is.height);
      if (sameLine ? is.left < was.right - 1 : is.bottom < was.bottom) {
        wrong.add(`${block.tagName}.${block.className}: ${JSON.stringify(before.segment)} is drawn after ${JSON.stringify(segment)} in ${JSON.stringify(text.slice(0, 60))}`);
      }
    }
  }

  // A field is read by where its caret comes to stand.
  for (const field of document.querySelectorAll("main textarea, main input:not([type=hidden], [type=checkbox], [type=radio])")) {
    if (!/[\u0590-\u08FF]/.test(field.value) || !field.getClientRects().length) continue;
    field.scrollIntoView({ block: "center" });
    const box = field.getBoundingClientRect();
    for (let y = box.top + 6; y < box.bottom - 4; y += 6) {
      for (let x = box.left + 4, at = 0; x < box.right - 16; x += 3) {
        const caret = document.caretPositionFromPoint(x, y);
        if (caret?.offsetNode !== field) continue;
        if (caret.offset < at) wrong.add(`field ${field.name}: the caret goes back from ${at} to ${caret.offset}`);
        at = caret.offset;
      }
    }
  }
  for (const choice of document.querySelectorAll("main select, main option")) {
    if (getComputedStyle(choice).unicodeBidi !== "bidi-override") wrong.add("a choice may be reordered");
  }

  // Whoever shows right-to-left letters says so.
  const note = "contains right-to-left letters, shown in stored order";
  for (const shown of document.querySelectorAll("main .untrusted, main .code-body")) {
    if (!/[\u0590-\u08FF]/.test(shown.textContent) || shown.closest(".natural, .decide") || !shown.getClientRects().length) continue;
    const near = [shown, shown.closest(".code"), shown.closest(".row"), shown.parentElement];
    if (!near.some((place) => place?.innerText.includes(note))) wrong.add(`no note at ${shown.parentElement.className}: ${shown.textContent.slice(0, 60)}`);
  }
  return [...wrong].slice(0, 20).join("\n");
})()
