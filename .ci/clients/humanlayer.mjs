// The published SDK against a Countersign, with two keys: the agent asks, a reviewer decides.
// Nothing of it is changed but its address and key. It fails with what is not as its users
// would have it.
import assert from "node:assert/strict";
import { HumanLayer, humanlayer } from "@humanlayer/sdk";

const { BASE_URL, AGENT_KEY, REVIEWER_KEY } = process.env;
// The SDK sleeps 3 s before each poll.
const sleep = () => new Promise((done) => setTimeout(done, 100));
const made = [];
const genid = (prefix) => {
  const id = `${prefix}-${crypto.randomUUID().slice(0, 8)}`;
  made.push(id);
  return id;
};
const as = (apiKey) => humanlayer({ runId: "sdk-flow-run", apiKey, apiBaseUrl: BASE_URL, sleep, genid });
const agent = as(AGENT_KEY);
const reviewer = as(REVIEWER_KEY).backend;
const failure = (promise) => promise.then((got) => assert.fail(`it was let through: ${JSON.stringify(got)}`), (err) => String(err.message));

// asked waits until the agent has asked under a new id, then decides.
async function asked(n, decide) {
  for (let tries = 0; tries < 100; tries++) {
    await sleep();
    if (made.length <= n) continue;
    try {
      return await decide(made[n]);
    } catch (err) {
      if (!String(err).includes("404")) throw err; // it has the id, and its request is on its way
    }
  }
  assert.fail("the agent did not ask");
}

async function send_email({ to, subject }) {
  return `sent to ${to}: ${subject}`;
}

// requireApproval: approved, rejected, rejected without a reason.
for (const [status, wanted] of [
  [{ approved: true }, /^sent to a@example\.test: hi$/],
  [{ approved: false, comment: "not today" }, /^User denied function send_email with comment: not today$/],
  [{ approved: false }, /^User denied function send_email with comment: A person rejected this/],
]) {
  const n = made.length;
  const [got] = await Promise.all([
    agent.requireApproval()(send_email)({ to: "a@example.test", subject: "hi" }),
    asked(n, (id) => reviewer.functions().respond(id, status)),
  ]);
  assert.match(got, wanted);
}

// humanAsTool.
const before = made.length;
const [region] = await Promise.all([
  agent.humanAsTool()({ message: "Which region?" }),
  asked(before, (id) => reviewer.contacts().respond(id, { response: "eu-west" })),
]);
assert.equal(region, "eu-west");

// Options, state, a channel with a credential, escalation, conflicts.
const spec = {
  fn: "deploy", kwargs: { env: "prod" }, state: { step: 3 },
  reject_options: [{ name: "later", title: "Later", description: "not now", prompt_fill: "wait until " }],
  channel: { slack: { channel_or_user_id: "C123", bot_token: "xoxb-secret" } },
};
const call = await agent.createFunctionCall({ spec });
assert.deepEqual(call.spec.reject_options, spec.reject_options);
assert.deepEqual(call.spec.state, spec.state);
assert.deepEqual(call.spec.channel, { slack: { channel_or_user_id: "C123" } });
assert.deepEqual(call.dropped, ["spec.channel.slack.bot_token"]);
assert.equal((await agent.escalateEmailFunctionCall(call.call_id, { escalation_msg: "please look" })).call_id, call.call_id);
assert.match(await failure(agent.backend.functions().respond(call.call_id, { approved: true })), / 403: /);
const rejected = await reviewer.functions().respond(call.call_id, { approved: false, comment: "no", reject_option_name: "later" });
assert.deepEqual([rejected.status.approved, rejected.status.comment, rejected.status.reject_option_name], [false, "no", "later"]);
assert.match(await failure(reviewer.functions().respond(call.call_id, { approved: true })), / 409: /);
assert.match(await failure(agent.getFunctionCall("call-nope")), / 404: /);

const contact = await agent.createHumanContact({ spec: { msg: "pick one", response_options: [{ name: "a" }, { name: "b" }] } });
assert.match(await failure(reviewer.contacts().respond(contact.call_id, { response: "" })), / 422: /);
assert.equal((await reviewer.contacts().respond(contact.call_id, { response: "a", response_option_name: "a" })).status.response_option_name, "a");
assert.equal((await agent.getHumanContact(contact.call_id)).status.response, "a");

// Address and key from the environment, as most set them.
process.env.HUMANLAYER_API_BASE = BASE_URL;
process.env.HUMANLAYER_API_KEY = AGENT_KEY;
assert.equal((await new HumanLayer({ sleep }).createFunctionCall({ spec: { fn: "noop", kwargs: {} } })).status.approved, undefined);
console.log("humanlayer: the published SDK works unchanged");
