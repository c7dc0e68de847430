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

// What comes from the network, or the page that says that there is none.
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
