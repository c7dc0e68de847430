// Lists the characters in ranges that leave no ink: a letter or sign alone on an
// empty canvas, a mark on a letter that looks the same without it.
(async (ranges) => {
  const size = 32, columns = 48, rows = 32;
  const canvas = Object.assign(document.createElement("canvas"), { width: columns * size, height: rows * size });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.textBaseline = "alphabetic";
  const isMark = /^\p{M}$/u;
  const inked = (texts, font) => {
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.font = `16px ${font}`;
    texts.forEach((text, i) => {
      context.save();
      context.beginPath();
      context.rect((i % columns) * size, Math.floor(i / columns) * size, size, size);
      context.clip();
      context.fillText(text, (i % columns) * size + 8, Math.floor(i / columns) * size + 22);
      context.restore();
    });
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    return texts.map((_, i) => {
      let ink = "";
      for (let y = 0; y < size; y++) {
        let at = ((Math.floor(i / columns) * size + y) * canvas.width + (i % columns) * size) * 4 + 3;
        for (let x = 0; x < size; x++, at += 4) if (data[at] > 8) ink += `${y * size + x},`;
      }
      return ink;
    });
  };
  const blank = (all, font) => {
    const out = [];
    const [bare] = inked(["o"], font);
    for (let from = 0; from < all.length; from += columns * rows) {
      const some = all.slice(from, from + columns * rows);
      const marks = some.map((c) => isMark.test(c));
      inked(some.map((c, i) => (marks[i] ? "o" + c : c)), font).forEach((ink, i) => {
        if (ink === (marks[i] ? bare : "")) out.push(some[i]);
      });
    }
    return out;
  };
  let left = [];
  for (const [from, to] of ranges) for (let c = from; c <= to; c++) left.push(String.fromCodePoint(c));
  for (const font of ["sans-serif", "serif", "monospace"]) left = blank(left, font);
  return left.map((c) => "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")).join(" ");
})
