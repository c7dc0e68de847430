// A conversation opens at its end, and follows what comes while its reader is
// there and about to click nothing.
const page = document.getElementById("conversation");
const end = document.getElementById("end");
const below = document.querySelector("[data-below]");

if (page && end && page.hasAttribute("data-live")) {
  const history = document.getElementById("history");
  let atEnd = true;
  // The composer lies over what is below it: the end is seen above it.
  const composer = document.getElementById("composer");
  new IntersectionObserver(([entry]) => {
    atEnd = entry.isIntersecting;
    if (atEnd && below) below.hidden = true;
  }, { rootMargin: `0px 0px -${(composer?.offsetHeight ?? 0) - 40}px 0px` }).observe(end);

  // Someone who decides, or is about to, must not have the page move.
  const choosing = () => history.querySelector("form") !== null || history.querySelector("a:hover, button:hover, summary:hover, :focus") !== null
    || getSelection()?.isCollapsed === false;

  const follow = () => end.scrollIntoView({ block: "end" });
  const trouble = history.querySelector(".entry[data-kept], .entry > .flash:not([hidden])");
  if (trouble) trouble.scrollIntoView({ block: "center" });
  else if (!location.hash) follow();

  document.addEventListener("htmx:before:swap", (event) => {
    const source = event.detail?.ctx?.sourceElement;
    if (source?.id === "tail" && !source.isConnected) event.preventDefault(); // it has been replaced: what it brings stands
  });
  new MutationObserver(() => {
    if (atEnd && !choosing()) follow();
    else if (!atEnd && below) below.hidden = false;
  }).observe(history, { childList: true });
}
