// approved wraps the function of a tool. It runs once its input was approved, with the
// input that was approved, which a reviewer may have changed. Otherwise it throws.
export function approved(toolName, run) {
  const { COUNTERSIGN_SERVER: server, COUNTERSIGN_TOKEN: token } = process.env;
  return async (input, ...rest) => {
    // The same id in each repeat: the same request, also after a restart of the server.
    const body = JSON.stringify({ approvalId: crypto.randomUUID(), toolName, input, acceptsEdits: true });
    for (let failed = 0; failed < 15; await new Promise((wake) => setTimeout(wake, 2000))) {
      const res = await fetch(`${server}/v1/approvals?wait=50s`, {
        method: "POST", body, redirect: "error",
        headers: { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" },
      }).catch(() => null);
      if (res?.status === 202) { failed = 0; continue; } // nobody has decided yet
      if (!res || res.status >= 500) { failed++; continue; }
      const answer = await res.json();
      if (res.ok && answer.approved === true) return run(answer.decision.input, ...rest);
      throw new Error(`${toolName} must not run: ${answer.reason || answer.detail || answer.status}`);
    }
    throw new Error(`${toolName} must not run: no server answers`);
  };
}
