// Measures pages of a fresh demo with Lighthouse; see .ci/lighthouse.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const [binary, folder, ...wanted] = process.argv.slice(2);
const runs = Number(process.env.RUNS ?? 5);
const reports = process.env.REPORTS;
const run = promisify(execFile);
const work = mkdtempSync(join(tmpdir(), "lighthouse-"));
const data = join(work, "data");

// A free port of this machine.
function port() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

// The demo, once it has printed how to sign in.
function demo(address) {
  const server = spawn(binary, ["demo", "--data", data, "--addr", address]);
  const printed = new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (chunk) => {
      text += chunk;
      const password = text.match(/^\s*Password\s+(\S+)/m)?.[1];
      const email = text.match(/^\s*E-mail\s+(\S+)/m)?.[1];
      if (email && password) resolve({ email, password });
    });
    server.on("exit", () => reject(new Error(`the demo ended:\n${text}`)));
  });
  return { server, printed };
}

// One browser for all runs, once it listens: Lighthouse forgets what it stored before each.
function browser() {
  const program = spawn(process.env.CHROME_PATH, [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0", `--user-data-dir=${join(work, "profile")}`, "about:blank",
  ]);
  const listens = new Promise((resolve, reject) => {
    let text = "";
    program.stderr.on("data", (chunk) => {
      text += chunk;
      const port = text.match(/DevTools listening on ws:\/\/[^:]+:(\d+)/)?.[1];
      if (port) resolve(port);
    });
    program.on("exit", () => reject(new Error(`the browser ended:\n${text}`)));
  });
  return { program, listens };
}

// A browser may wait for its tabs for ever before it ends; nothing of either is kept.
async function end(program) {
  program.removeAllListeners("exit");
  if (program.exitCode !== null || program.signalCode !== null) return;
  const ended = new Promise((resolve) => { program.on("exit", resolve); });
  program.kill("SIGKILL");
  await ended;
}

// Requests that wait for an hour, so that every run finds the same inbox.
async function ask(base, email) {
  const { stdout } = await run(binary, ["token", "add", "deploy-bot", "--user", email, "--data", data]);
  const token = stdout.trim();
  const tools = [
    ["shell.run", (n) => ({ command: `npm publish --workspace packages/part-${n} --access public`, cwd: "/srv/shop" })],
    ["edit_file", (n) => ({ path: `config/prices-${n}.yaml`, old_string: "vat: 19", new_string: "vat: 21" })],
    ["payments.send", (n) => ({ amount: `${n}40.00`, currency: "EUR", to: "Nordlicht Hosting", reference: `2026-${n}` })],
  ];
  for (let n = 1; n <= 24; n++) {
    const [toolName, input] = tools[n % tools.length];
    const answer = await fetch(`${base}/v1/approvals`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ toolUseId: `measured-${n}`, toolName, input: input(n), description: `Step ${n} of the release`, timeoutSeconds: 3600 }),
    });
    if (!answer.ok) throw new Error(`ask: ${answer.status} ${await answer.text()}`);
  }
}

async function signIn(base, { email, password }) {
  const answer = await fetch(`${base}/signin`, { method: "POST", redirect: "manual", body: new URLSearchParams({ email, password }) });
  const cookie = answer.headers.getSetCookie().map((line) => line.split(";")[0]).find((line) => line.startsWith("countersign="));
  if (!cookie) throw new Error(`sign in: ${answer.status}`);
  return cookie;
}

async function firstLink(base, cookie, path, pattern) {
  const answer = await fetch(base + path, { headers: { Cookie: cookie } });
  const found = (await answer.text()).match(pattern);
  if (!found) throw new Error(`${path} has no link like ${pattern}`);
  return found[1];
}

async function measure(url, headers, name, port) {
  const output = join(reports ?? work, `${name}.json`);
  await run(process.execPath, [
    join(folder, "node_modules/lighthouse/cli/index.js"), url, "--quiet", "--output=json", `--output-path=${output}`,
    "--only-categories=performance", `--extra-headers=${headers}`, `--port=${port}`,
    "--max-wait-for-load=10000", // a page's stream is never quiet
  ], { maxBuffer: 64 << 20 });
  const { categories, audits, environment } = JSON.parse(readFileSync(output, "utf8"));
  const sent = audits["network-requests"].details.items.filter((item) => item.url.startsWith("http"));
  return {
    performance: Math.round(categories.performance.score * 100),
    "FCP ms": Math.round(audits["first-contentful-paint"].numericValue),
    "LCP ms": Math.round(audits["largest-contentful-paint"].numericValue),
    "TBT ms": Math.round(audits["total-blocking-time"].numericValue),
    CLS: Math.round(audits["cumulative-layout-shift"].numericValue * 1000) / 1000,
    requests: sent.length,
    KiB: Math.round(sent.reduce((sum, item) => sum + item.transferSize, 0) / 102.4) / 10,
    machine: Math.round(environment.benchmarkIndex), // below 1500 it is too busy for the performance to mean much
  };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

const address = `127.0.0.1:${await port()}`;
const base = `http://${address}`;
const { server, printed } = demo(address);
const { program, listens } = browser();
try {
  if (reports) mkdirSync(reports, { recursive: true });
  const person = await printed;
  const devtools = await listens;
  await ask(base, person.email);
  const cookie = await signIn(base, person);
  const pages = {
    "sign-in": "/signin",
    inbox: "/",
    request: await firstLink(base, cookie, "/", /href="(\/approvals\/[0-9a-f-]{36})/),
    conversation: await firstLink(base, cookie, "/conversations", /href="(\/conversations\/[0-9a-f-]{36})[^>]*><bdi[^>]*>Hello!/),
    policy: "/policy",
    history: "/history",
  };
  const table = {};
  for (const [name, path] of Object.entries(pages)) {
    if (wanted.length && !wanted.includes(name)) continue;
    const headers = join(work, "headers.json");
    writeFileSync(headers, JSON.stringify(name === "sign-in" ? {} : { Cookie: cookie }));
    const measured = [];
    for (let n = 1; n <= runs; n++) measured.push(await measure(base + path, headers, `${name}-${n}`, devtools));
    table[name] = Object.fromEntries(Object.keys(measured[0]).map((key) => [key, median(measured.map((one) => one[key]))]));
    console.error(`${name}: ${measured.map((one) => one.performance).join(" ")}`);
  }
  console.table(table);
} finally {
  await Promise.all([end(server), end(program)]);
  rmSync(work, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }); // the browser's children end after it
}
process.exit(); // whatever still holds a pipe of the browser
