// A menu or a popover closes when its reader goes on elsewhere, and with Escape.
const open = () => [...document.querySelectorAll("details:is(.menu, .pop, .filter-menu)[open], .list-table details[open]:not(.past-group)")];

document.addEventListener("pointerdown", (event) => {
  for (const one of open()) {
    if (!one.contains(event.target)) one.open = false;
  }
});

document.addEventListener("focusin", (event) => {
  for (const one of document.querySelectorAll("details.menu[open]")) {
    if (!one.contains(event.target)) one.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
  const one = open().find((menu) => menu.contains(document.activeElement)) ?? open()[0];
  if (!one) return;
  event.preventDefault();
  one.open = false;
  one.querySelector("summary").focus();
});
