// The page's title begins with how many requests wait, and the icon shows that
// some do.
const icon = document.querySelector("link[rel=icon]");
const plain = document.title.replace(/^\([\d,+]+\) /, "");
const idle = icon?.getAttribute("href");

function draw() {
  const count = document.querySelector("#inbox-count [data-count]")?.dataset.count ?? "";
  const title = count && count !== "0" ? `(${count}) ${plain}` : plain;
  if (document.title !== title) document.title = title;
  if (icon) icon.href = count && count !== "0" ? icon.dataset.waiting : idle;
}

draw();
document.addEventListener("htmx:after:swap", draw);
document.addEventListener("countersign:count", draw);
