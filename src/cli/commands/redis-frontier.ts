/** The frontier on a Redis server that a command names with --redis, in place of a directory: it must be there. */
import type { Report } from "../../index.ts";
import type { RedisFrontier } from "../../redis.ts";
import { type Flag, type Parsed, UsageError } from "../flags.ts";
import { EXIT_OK, type Io } from "../io.ts";
import { whole } from "../output/number-text.ts";
import { lineText } from "../output/terminal-text.ts";
import { filterOf } from "./chosen-frontier.ts";

export const REDIS: Flag = {
  name: "redis",
  value: "<url>",
  text: "the frontier --name on this Redis server, in place of a directory",
};

/** Undefined without --redis. Throws UsageError where a directory is named too, or there is no such frontier. */
export async function redisFrontierOf(
  args: Parsed,
  command: string,
): Promise<RedisFrontier | undefined> {
  const redis = args.text("redis");
  if (redis === undefined) return undefined;
  for (const name of ["dir", "options", "preset"]) {
    if (args.has(name)) throw new UsageError(`--${name}: not with --redis`);
  }
  const [word] = args.words;
  if (word !== undefined) throw new UsageError(`${command}: ${word}: a directory beside --redis`);
  const { openRedisFrontier } = await import("../../redis.ts");
  const name = args.text("name") ?? "default";
  try {
    return await openRedisFrontier({ redis, name, mustExist: true, giveUpMs: GIVE_UP_MS });
  } catch (cause) {
    if ((cause as { code?: string }).code !== "OPTION_INVALID") throw cause;
    throw new UsageError(`${command}: ${name}: no frontier on that server`);
  }
}

/** Somebody waits at a terminal. */
const GIVE_UP_MS = 5_000;

export async function redisStats(frontier: RedisFrontier, json: boolean, io: Io): Promise<number> {
  await using open = frontier;
  const rates = { pushed: 0, leased: 0, done: 0 };
  const report: Report = Object.assign(await open.report(), { rates });
  io.out(json ? `${JSON.stringify(report)}\n` : `${String(report).trimEnd()}\n`);
  return EXIT_OK;
}

export async function redisPeek(
  frontier: RedisFrontier,
  { max, json }: { max: number; json: boolean },
  io: Io,
): Promise<number> {
  await using open = frontier;
  const next = await open.peek(max);
  const { pending } = await open.report();
  if (json) io.out(`${JSON.stringify({ next, pending })}\n`);
  else {
    for (const { priority, depth, url } of next)
      io.out(`${priority}\t${depth}\t${lineText(url)}\n`);
  }
  return EXIT_OK;
}

export async function redisRequeue(frontier: RedisFrontier, args: Parsed, io: Io): Promise<number> {
  await using open = frontier;
  const reason = args.text("reason");
  const requeued = await open.requeue({
    ...{ state: "failed", ...filterOf(args) },
    ...(reason === undefined ? {} : { reason }),
  });
  io.out(args.has("json") ? `${JSON.stringify({ requeued })}\n` : `${whole(requeued)} requeued\n`);
  return EXIT_OK;
}
