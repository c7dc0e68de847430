import { tool } from "@openai/agents";
import { z } from "zod";
import { approved } from "./countersign.mjs";

export const sendEmail = tool({
  name: "send_email",
  description: "Sends an e-mail.",
  parameters: z.object({ to: z.string() }),
  execute: approved("send_email", async ({ to }) => `sent to ${to}`),
  errorFunction: (_context, err) => err.message, // so that the model reads the reason
});
