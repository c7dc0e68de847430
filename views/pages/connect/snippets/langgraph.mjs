import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { approved } from "./countersign.mjs";

export const sendEmail = tool(
  approved("send_email", async ({ to }) => `sent to ${to}`),
  { name: "send_email", description: "Sends an e-mail.", schema: z.object({ to: z.string() }) },
);
