import { humanlayer } from "@humanlayer/sdk";

const hl = humanlayer({ runId: "my-run" });
const sendEmail = hl.requireApproval()(async function send_email({ to }) {
  return `sent to ${to}`;
});
console.log(await sendEmail({ to: "ann@example.com" }));
