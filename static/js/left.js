// Who has just signed out here has left the other tabs of this browser too: they are told (session.js).
try {
  const who = sessionStorage.getItem("countersign:left");
  sessionStorage.removeItem("countersign:left");
  if (who) new BroadcastChannel("countersign:signed-out").postMessage(who);
} catch { /* this tab only */ }
