// What the pages of one browser tell each other: countersign:broadcast sends to the others,
// countersign:heard is what one of them sent. A page that was left hears nothing, for what
// reaches it has the browser throw it away, and somebody may go back to it.
const NAMES = ["live", "count", "session", "signed-out"];
const channels = new Map();

function open() {
  if (!("BroadcastChannel" in window) || channels.size) return;
  for (const name of NAMES) {
    const channel = new BroadcastChannel(`countersign:${name}`);
    channel.addEventListener("message", ({ data }) => {
      document.dispatchEvent(new CustomEvent(`countersign:heard:${name}`, { detail: data }));
    });
    channels.set(name, channel);
  }
}

function close() {
  for (const channel of channels.values()) channel.close();
  channels.clear();
}

open();
document.addEventListener("countersign:broadcast", ({ detail: { name, data } }) => channels.get(name)?.postMessage(data));
window.addEventListener("pagehide", close);
window.addEventListener("pageshow", open);
