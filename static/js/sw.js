// The service worker. Where there is no network it shows a page that says so, and it keeps
// nothing but that page and the static files that it needs: no page with anybody's data is
// ever stored here, so that signing out leaves nothing behind.
//
// The server puts three lines before this: VERSION, which is another one when a file is,
// OFFLINE, the path of the page, and FILES, the paths of what it loads.
const NAME = `countersign-${VERSION}`;

self.addEventListener("install", (event) => {
  const fresh = [OFFLINE, ...FILES].map((path) => new Request(path, { cache: "reload", credentials: "omit" }));
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(fresh)));
  self.skipWaiting(); // it serves no version of a page, so no tab can be between two of them
});

self.addEventListener("activate", (event) => {
  const forget = async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith("countersign-") && name !== NAME);
    await Promise.all(old.map((name) => caches.delete(name)));
  };
  event.waitUntil(forget());
});

const kept = (path) => caches.match(path, { cacheName: NAME });

// The page from the network, or the one that says that there is no network.
const visit = (request) => fetch(request).catch(async (failed) => {
  const offline = await kept(OFFLINE);
  if (offline) return offline;
  throw failed;
});

// A file by its path, which another content would change.
const file = async (request) => await kept(request.url) ?? fetch(request);

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin || pathname.endsWith("/export")) return; // the browser's own way
  if (request.mode === "navigate") event.respondWith(visit(request));
  else if (FILES.includes(pathname)) event.respondWith(file(request));
});

// A message from the server to this browser: a title and a text, and the page that it leads to. It is shown unchanged.
// A malformed message is shown as the product's name only: a browser revokes the permission if a push shows nothing.
const said = (value) => (typeof value === "string" ? value : "");

function message(event) {
  try {
    const { title, body, tag, url } = event.data.json();
    return { title: said(title), body: said(body), tag: said(tag), url: said(url) };
  } catch {
    return { title: "", body: "", tag: "", url: "" };
  }
}

self.addEventListener("push", (event) => {
  const { title, body, tag, url } = message(event);
  event.waitUntil(self.registration.showNotification(title || "Countersign", { body, tag, renotify: tag !== "", data: { url } }));
});

// A notification leads to a page of this server, and to nowhere else.
function place(url) {
  try {
    const { origin, protocol, href } = new URL(url, self.location.origin);
    return origin === self.location.origin && protocol === self.location.protocol ? href : "/"; // a blob: has its maker's origin
  } catch {
    return "/";
  }
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const open = async () => {
    const url = place(event.notification.data?.url ?? "/");
    const pages = await self.clients.matchAll({ type: "window" });
    const there = pages.find((page) => page.url === url);
    return there ? there.focus() : self.clients.openWindow(url);
  };
  event.waitUntil(open());
});
