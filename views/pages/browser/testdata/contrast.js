// Gives the page contrast(), which lists text whose contrast with what is behind it is
// below WCAG AA for small text (4.5), and whether something reaches over the right edge.
(() => {
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = (front, back) => [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);
  const luminance = (colour) => {
    const [r, g, b] = colour.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const layers = [];
    for (; element; element = element.parentElement) {
      const colour = rgba(getComputedStyle(element).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] > 0.99) break;
    }
    return layers.reduceRight((back, layer) => over(layer, back), [255, 255, 255, 1]);
  };
  window.contrast = () => {
    for (const running of document.getAnimations()) running.finish();
    const found = new Set();
    const page = document.documentElement;
    if (page.scrollWidth > page.clientWidth) found.add(`scrolls sideways: ${page.scrollWidth} px of ${page.clientWidth}`);
    for (const element of document.querySelectorAll("body *")) {
      if (![...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim())) continue;
      if (element.closest(".sr-only, [hidden], details:not([open]) > :not(summary)") || !element.getClientRects().length) continue;
      const back = behind(element);
      const [light, dark] = [luminance(over(rgba(getComputedStyle(element).color), back)), luminance(back)].sort((a, b) => b - a);
      const ratio = (light + 0.05) / (dark + 0.05);
      if (ratio < 4.5) found.add(`${element.tagName}.${element.className} has contrast ${ratio.toFixed(2)}`);
    }
    return [...found];
  };
  return "";
})()
