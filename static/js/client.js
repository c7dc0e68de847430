// Countersign for web pages: ask, wait, decide and follow with a bearer token. No dependencies.
//
//   import { Countersign } from "https://countersign.example.com/static/client.js";
//   const desk = new Countersign("https://countersign.example.com", token);
//   const outcome = await desk.ask({ toolName: "deploy", input: { version: "1.4" } });
//   if (Countersign.mayRun(outcome)) run(outcome.decision.input);
//
// The server names this page's origin in --cors-origins. A script that can read the page's memory has the token: give
// a page a person's own token, or that of an agent with few rights.

const WAIT = "50s";
const LATE = 80_000; // an answer that has not come by then is lost
const QUIET = 45_000; // a stream says something every 15 seconds

// CountersignError is an answer that is no outcome: status, code, and the problem document.
export class CountersignError extends Error {
  constructor(status, problem) {
    super(problem?.detail ?? `The server answered ${status}.`);
    this.name = "CountersignError";
    this.status = status;
    this.code = problem?.code ?? "";
    this.problem = problem;
  }
}

export class Countersign {
  #server;
  #token;

  constructor(server, token) {
    this.#server = String(server).replace(/\/+$/, "");
    this.#token = token;
  }

  // mayRun is true if the call may run, with outcome.decision.input. Only these states say so; an unknown one says no.
  static mayRun(outcome) {
    return outcome?.status === "approved" && outcome.decision?.approved === true && !outcome.removed;
  }

  // ask sends a request, whose input a person may edit, and waits until it is settled, through cut connections and
  // restarts of the server: its approvalId makes each repeat the same request. onPending gets it while it is pending.
  // options: { signal, onPending }. Aborting ends the wait, not the request.
  async ask(request, options = {}) {
    const body = { approvalId: uuid(), acceptsEdits: true, ...request };
    return this.#until(() => this.#send("POST", `/v1/approvals?wait=${WAIT}`, body, options.signal), options);
  }

  // wait waits for the outcome of a request by its id. options as of ask.
  async wait(id, options = {}) {
    return this.#until(() => this.#send("GET", `/v1/approvals/${encodeURIComponent(id)}?wait=${WAIT}`, undefined, options.signal), options);
  }

  // respond decides a request, for a person's token: { approved, reason, input, answer, option, digest }. Approving
  // high or critical risk needs the digest that was shown. The answer is the request; with held set, the decision is
  // stored but not the outcome yet.
  async respond(id, decision, { signal } = {}) {
    const answer = await this.#send("POST", `/v1/approvals/${encodeURIComponent(id)}/respond`, decision, signal);
    return answer.body;
  }

  // pending are the requests that wait for the token's owner.
  async pending({ signal } = {}) {
    return (await this.#send("GET", "/v1/approvals/pending", undefined, signal)).body;
  }

  // subscribe follows what happens and calls onEvent({ id, type, data }) for each event, once,
  // in order, through cut connections: until signal is aborted, or the token is refused, which
  // is thrown. It begins now, or after the event whose id is from. type is "reset" where so much
  // was missed that the lists are to be read again.
  async subscribe(onEvent, { signal, from = "", path = "/v1/events" } = {}) {
    let last = from;
    for (let failures = 0; !signal?.aborted;) {
      const quiet = new AbortController();
      const both = signal ? AbortSignal.any([signal, quiet.signal]) : quiet.signal;
      let timer = setTimeout(() => quiet.abort(), QUIET);
      try {
        const headers = { Accept: "text/event-stream", ...last && { "Last-Event-ID": last } };
        const answer = await this.#fetch("GET", path, headers, undefined, both);
        for await (const event of events(answer.body)) {
          clearTimeout(timer);
          timer = setTimeout(() => quiet.abort(), QUIET);
          failures = 0;
          if (event.id !== undefined) last = event.id;
          if (event.data === undefined || signal?.aborted) continue;
          const data = JSON.parse(event.data);
          try {
            onEvent({ id: last, type: event.name || data.type, data: event.name ? data : data.data ?? data });
          } catch (error) {
            queueMicrotask(() => { throw error; }); // the page's own: the stream goes on
          }
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (!passes(error)) throw error;
        failures++;
      } finally {
        clearTimeout(timer);
        quiet.abort();
      }
      await pause(failures, undefined, signal);
    }
  }

  async #until(look, { signal, onPending }) {
    for (let failures = 0; ;) {
      signal?.throwIfAborted();
      try {
        const { status, body } = await look();
        if (status !== 202 && body.status !== "pending") return body;
        failures = 0;
        onPending?.(body);
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        if (!passes(error)) throw error;
        await pause(++failures, error.retryAfter, signal);
      }
    }
  }

  async #send(method, path, body, signal) {
    const late = AbortSignal.timeout(LATE);
    const answer = await this.#fetch(method, path, { Accept: "application/json" }, body, signal ? AbortSignal.any([signal, late]) : late);
    return { status: answer.status, body: await answer.json() };
  }

  // The token goes into the header, and nowhere else: addresses are written into logs.
  async #fetch(method, path, headers, body, signal) {
    const answer = await fetch(this.#server + path, {
      method, signal, credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer",
      headers: { ...headers, Authorization: `Bearer ${this.#token}`, ...body && { "Content-Type": "application/json" } },
      body: body && JSON.stringify(body),
    });
    if (answer.ok) return answer;
    const error = new CountersignError(answer.status, await answer.json().catch(() => undefined));
    error.retryAfter = Number(answer.headers.get("Retry-After")) || undefined;
    throw error;
  }
}

// passes is true of what may be otherwise in a while: no connection, too many, not ready.
function passes(error) {
  if (error instanceof CountersignError) return error.status === 429 || error.status >= 500;
  return error instanceof TypeError || error?.name === "AbortError" || error?.name === "TimeoutError" || error instanceof SyntaxError;
}

// pause waits longer after each failure, 30 seconds at most, and a little at random.
function pause(failures, seconds, signal) {
  const time = seconds ? seconds * 1000 : Math.min(30_000, 250 * 2 ** failures) * (0.75 + Math.random() / 2);
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, time);
    signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

// events reads server-sent events. A comment is an event without data.
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", event = {};
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        yield event;
        event = {};
      } else if (line.startsWith(":")) {
        yield {};
      } else {
        const [, name, text] = /^([^:]*):? ?(.*)$/s.exec(line);
        if (name === "data") event.data = event.data === undefined ? text : `${event.data}\n${text}`;
        if (name === "event") event.name = text;
        if (name === "id") event.id = text;
      }
    }
  }
}

function uuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const b = crypto.getRandomValues(new Uint8Array(16)); // on pages without HTTPS
  b[6] = b[6] & 0x0f | 0x40;
  b[8] = b[8] & 0x3f | 0x80;
  return [...b].map((n, i) => (i === 4 || i === 6 || i === 8 || i === 10 ? "-" : "") + n.toString(16).padStart(2, "0")).join("");
}
