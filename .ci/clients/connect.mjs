// The adapters of the page Connect within the frameworks that they are for: what a tool does,
// and what the framework hears, when its call is approved, edited and rejected. And the older
// SDK, by the lines that are pasted for it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { RunContext } from "@openai/agents";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { AIMessage } from "@langchain/core/messages";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { approved } from "./countersign.mjs";
import { sendEmail as openaiTool } from "./openai-agents.mjs";
import { sendEmail as vercelTool } from "./vercel-ai.mjs";
import { sendEmail as graphTool } from "./langgraph.mjs";

const { COUNTERSIGN_SERVER: server, REVIEWER_KEY: reviewer, BIN, DATA, SERVER } = process.env;
const headers = { "Authorization": `Bearer ${reviewer}`, "Content-Type": "application/json" };
const up = () => fetch(`${server}/readyz`).then((res) => res.ok, () => false);
const pending = async () => (await (await fetch(`${server}/v1/approvals?status=pending`, { headers })).json()).approvals;

// until looks until it sees what it wants, a minute at most.
async function until(seen) {
  for (let tries = 0; tries < 600; tries++) {
    if (await seen()) return;
    await new Promise((wake) => setTimeout(wake, 100));
  }
  assert.fail(`not seen in a minute: ${seen}`);
}

// decided waits for the one request that is pending, and decides it.
async function decided(verdict) {
  await until(async () => (await pending()).length === 1);
  const [asked] = await pending();
  assert.equal(asked.toolName, "send_email");
  const res = await fetch(`${server}/v1/approvals/${asked.approvalId}/respond`, { method: "POST", headers, body: JSON.stringify(verdict) });
  assert.equal(res.status, 200, await res.text());
}

const input = { to: "ann@example.com" };

// Each calls its tool as its framework does, with a call that a model made, and gives what
// the model would read.
const frameworks = {
  async "OpenAI Agents SDK"() {
    return String(await openaiTool.invoke(new RunContext(), JSON.stringify(input)));
  },
  async "Vercel AI SDK"() {
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    let turn = 0;
    const model = new MockLanguageModelV3({
      doGenerate: async () => turn++ === 0
        ? { content: [{ type: "tool-call", toolCallId: "call-1", toolName: "send_email", input: JSON.stringify(input) }], finishReason: { unified: "tool-calls" }, usage, warnings: [] }
        : { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" }, usage, warnings: [] },
    });
    const { steps } = await generateText({ model, tools: { send_email: vercelTool }, prompt: "send", stopWhen: stepCountIs(2) });
    const part = steps[0].content.find((p) => p.type === "tool-result" || p.type === "tool-error");
    return String(part.output ?? part.error);
  },
  async "LangGraph"() {
    const call = new AIMessage({ content: "", tool_calls: [{ name: "send_email", args: input, id: "call-1", type: "tool_call" }] });
    const { messages } = await new ToolNode([graphTool]).invoke({ messages: [call] });
    return String(messages[0].content);
  },
};

for (const [name, call] of Object.entries(frameworks)) {
  for (const [verdict, wanted] of [
    [{ approved: true }, /^sent to ann@example\.com$/],
    [{ approved: true, input: { to: "bo@example.com" } }, /^sent to bo@example\.com$/],
    [{ approved: false, reason: "not today" }, /send_email must not run: not today/],
  ]) {
    const [got] = await Promise.all([call(), decided(verdict)]);
    assert.match(got, wanted, name);
  }
  console.log(`connect: ${name} passes`);
}

// A restart of the server while the adapter waits: the same request, and its outcome.
const waits = approved("send_email", async ({ to }) => `sent to ${to}`)(input);
await until(async () => (await pending()).length === 1);
process.kill(Number(SERVER));
await until(async () => !(await up()));
const again = spawn(BIN, ["serve", "--data", DATA, "--addr", new URL(server).host], { stdio: "ignore" });
process.on("exit", () => again.kill());
await until(up);
const [got] = await Promise.all([waits, decided({ approved: true })]);
assert.equal(got, "sent to ann@example.com");
console.log("connect: the adapter waits through a restart");

// The lines for the older SDK are a script of the shell.
const shell = spawn("bash", ["-e", "humanlayer.sh"], { stdio: ["ignore", "pipe", "inherit"] });
let printed = "";
shell.stdout.on("data", (text) => { printed += text; });
const [code] = await Promise.all([new Promise((end) => shell.on("close", end)), decided({ approved: true })]);
assert.equal(code, 0);
assert.match(printed, /sent to ann@example\.com/);
console.log("connect: @humanlayer/sdk passes");
again.kill();
