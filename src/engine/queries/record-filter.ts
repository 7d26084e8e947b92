/** Record filters: which of them a call is about (base/argument-checks.ts has all others). An unknown field must never pass: an empty filter takes all. */
import { argument } from "../../base/argument-checks.ts";
import { made, oneOf, TEXT } from "../../base/fields.ts";

const WHERE = { rule: TEXT, host: TEXT };

export interface Where {
  host?: string;
  rule?: string;
}

const STATES = ["pending", "waiting", "leased", "failed", "done"] as const;

export const readScan = argument<Where & { state?: (typeof STATES)[number] }>("filter", {
  ...WHERE,
  state: oneOf(...STATES),
});

export const readRequeue = argument<Where & { state?: "failed" | "done" }>("filter", {
  ...WHERE,
  state: oneOf("failed", "done"),
});

export const readRemove = argument<Where & { pattern?: RegExp }>("filter", {
  ...WHERE,
  pattern: made("an ECMAScript pattern", expressionOf),
});

export const readForget = argument<{ epoch?: string }>("filter", { epoch: TEXT });

export const readSnapshotPath = argument<{ path?: string }>("options", { path: TEXT });

function expressionOf(pattern: unknown): RegExp | undefined {
  try {
    return typeof pattern === "string" ? new RegExp(pattern, "u") : undefined;
  } catch {
    return undefined;
  }
}
