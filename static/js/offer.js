// The button that approves a proposal says which budget that sets, as its fields say now.
function name(offer) {
  const { new_budget: amount, set_budget: sets } = offer.closest("form").elements;
  const typed = amount.value.trim();
  const budget = /^\d{1,15}$/.test(typed) ? Number(typed).toLocaleString("en-US") : "the budget";
  const button = offer.closest("form").querySelector("[data-act=approve]");
  if (!button) return;
  for (const words of button.querySelectorAll("[data-sets]")) words.textContent = budget;
  if (!sets.checked) delete button.dataset.ends;
  else button.dataset.ends = budget === "the budget" ? " and set the budget?" : ` and set the budget to ${budget}?`;
}

function all() {
  for (const offer of document.querySelectorAll("[data-offer]")) name(offer);
}

for (const change of ["input", "change"]) {
  document.addEventListener(change, (event) => {
    const offer = event.target.closest?.("[data-offer]");
    if (offer) name(offer);
  });
}
for (const drawn of ["htmx:after:swap", "reset"]) document.addEventListener(drawn, () => { setTimeout(all); });
window.addEventListener("pageshow", all);
all();
