/**
 * One process of the case `redis`: opens a side, and does at each line from its parent what the line names.
 *
 *   parent ── "push" | "drain" | "sweep" | "close" ─▶ child ── { "ms", "count" } ─▶ parent
 */
import { createInterface } from "node:readline";
import { urlChunk } from "../../harness/urls.ts";
import { CALL } from "./side.ts";
import { SIDES } from "./sides.ts";

interface Order {
  readonly side: string;
  readonly socket: string;
  readonly urls: number;
  readonly hosts: number;
  readonly partitions: number;
  readonly from: number;
  readonly count: number;
}

async function obey(order: Order): Promise<void> {
  const { side, from, count, hosts } = order;
  const kind = SIDES[side];
  if (kind === undefined) throw new Error(`side: ${side} (expected: a name of sides.ts)`);
  const opened = await kind.open(order);
  const urls: string[] = [];
  for (let at = 0; at < count; at += CALL) {
    urls.push(...urlChunk(from + at, Math.min(CALL, count - at), { hosts, isUniform: true }));
  }
  answer(0, 0);
  for await (const line of createInterface({ input: process.stdin })) {
    const start = performance.now();
    if (line === "close") break;
    let done = count;
    if (line === "push") await opened.push(urls);
    else if (line === "sweep") done = (await opened.sweep?.(urls)) ?? 0;
    else done = await opened.drain();
    answer(performance.now() - start, done);
  }
  await opened.close();
  process.exit(0);
}

function answer(ms: number, count: number): void {
  process.stdout.write(`${JSON.stringify({ ms, count })}\n`);
}

await obey(JSON.parse(process.argv[2] as string) as Order);
