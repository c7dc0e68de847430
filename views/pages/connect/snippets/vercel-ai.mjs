import { tool } from "ai";
import { z } from "zod";
import { approved } from "./countersign.mjs";

export const sendEmail = tool({
  description: "Sends an e-mail.",
  inputSchema: z.object({ to: z.string() }),
  execute: approved("send_email", async ({ to }) => `sent to ${to}`),
});
