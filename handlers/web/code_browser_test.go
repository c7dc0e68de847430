package web_test

// seen lists what a reader could miss in the source on a page: text below text
// contrast, comments dimmer than code, text that is faint, hidden or small; and
// the same for every class that a token can have, wherever source is drawn.
const seen = `(() => {
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (front, back) => [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);
  const luminance = (colour) => {
    const [r, g, b] = colour.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
    const back = layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255, 1]);
    const [light, dark] = [luminance(over(rgba(getComputedStyle(element).color), back)), luminance(back)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const found = new Set();
  const look = (element, what) => {
    const style = getComputedStyle(element), code = element.closest("code");
    if (contrast(element) < 4.5) found.add(what + " has contrast " + contrast(element).toFixed(2));
    if (element.className === "c" && contrast(element) < contrast(element.parentElement) - 0.01) found.add(what + ": a comment is dimmer than code");
    if (element.className !== "unseen" && parseFloat(style.fontSize) < parseFloat(getComputedStyle(code).fontSize)) found.add(what + " is small");
    for (let e = element; e; e = e.parentElement) {
      const s = getComputedStyle(e);
      if (s.opacity !== "1" || s.visibility !== "visible" || s.filter !== "none" || s.mixBlendMode !== "normal" || s.clipPath !== "none") found.add(what + " is made faint by " + e.tagName + "." + e.className);
    }
    if (style.textIndent !== "0px" || style.transform !== "none" || style.webkitTextFillColor !== style.color) found.add(what + " is drawn elsewhere");
  };
  for (const theme of ["light", "dark"]) {
    document.documentElement.dataset.theme = theme;
    for (const running of document.getAnimations()) running.finish();
    for (const code of document.querySelectorAll(".code code")) {
      for (const element of [code, ...code.querySelectorAll("*")]) {
        if ([...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim())) look(element, theme + " " + element.className + " " + element.textContent.slice(0, 20));
      }
    }
    const places = [...document.querySelectorAll(".code pre code")].slice(0, 1).concat(...["ins", "del"].flatMap((name) => {
      const code = document.querySelector(name + ".dl > code");
      return code ? [code, code.querySelector("mark") ?? code.appendChild(document.createElement("mark"))] : [];
    }));
    for (const place of places) for (const name of "k nf nt na nb nd nv m s c gi gd gh gu gs unseen".split(" ")) {
      const span = place.appendChild(Object.assign(document.createElement("span"), { className: name, textContent: "x" }));
      look(span, theme + " class " + name + " in " + place.tagName + " of " + place.parentElement.tagName);
      span.remove();
    }
  }
  return [...found].join("\n");
})()`
