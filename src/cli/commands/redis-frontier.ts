/** The frontier on a Redis server that a command names with --redis instead of a directory. It must exist. */
import type { RedisFrontier } from "../../redis.ts";
import { type Flag, type Parsed, UsageError } from "../flags.ts";

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

/** Short, since a user waits at a terminal. */
const GIVE_UP_MS = 5_000;
