/**
 * The web that is crawled, in a process of its own: what it allocates is no part of what the crawler holds.
 *
 *   case ── web-child.js <options as JSON> ─▶ child: openSyntheticWeb
 *        ◀── its port, a line of output ─────┘
 *        ── end of its input ─▶ gone, also when the case is killed
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { SyntheticWebOptions } from "../../../src/testing.ts";

const CHILD = fileURLToPath(new URL("./web-child.js", import.meta.url));

export interface WebProcess {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts a synthetic web in another process. */
export async function openWebProcess(options: SyntheticWebOptions): Promise<WebProcess> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const [said] = (await Promise.race([once(child.stdout, "data"), ended])) as [unknown];
  const port = Number(String(said));
  if (!Buffer.isBuffer(said) || !(port > 0)) throw new Error(`web: its process said ${said}`);
  return {
    port,
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
