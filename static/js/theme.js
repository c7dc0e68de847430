// Runs before the page is drawn, so that the chosen theme never flashes.
// Without a choice the system's preference holds.
(() => {
  const key = "countersign-theme";
  const root = document.documentElement;
  const chosen = () => {
    try { return localStorage.getItem(key); } catch { return null; }
  };
  const apply = (theme) => {
    if (theme !== "light" && theme !== "dark") return delete root.dataset.theme;
    root.dataset.theme = theme;
    // The colour of the browser's frame changes with the page.
    const around = document.querySelectorAll("meta[name=theme-color]");
    for (const meta of around) meta.content = around[theme === "light" ? 0 : 1].dataset.color;
  };
  apply(chosen());
  root.classList.add("js");

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-switch]");
    if (!button) return;
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    const next = dark ? "light" : "dark";
    apply(next);
    try { localStorage.setItem(key, next); } catch { /* this visit only */ }
  });
  addEventListener("storage", (event) => { if (event.key === key) apply(event.newValue); });
})();
