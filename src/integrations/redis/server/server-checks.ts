/** What a server must be like before a frontier is opened on it. */
import { misuse } from "../../../base/errors.ts";
import type { RedisCommands } from "../redis-options.ts";
import { isPassing, serverGone } from "./server-link.ts";
import { MACHINE, pause, TOO_LATE, withinMs } from "./waiting.ts";

const VERSION_MIN = 7;
const RETRY_MS = 200;

/** The servers must be new enough for the scripts, and must not evict keys. */
export async function checkServers(commands: RedisCommands, giveUpMs: number): Promise<void> {
  const deadline = MACHINE.monotonic() + giveUpMs;
  for (;;) {
    try {
      return await withinMs(deadline - MACHINE.monotonic(), checkAll(commands));
    } catch (cause) {
      if (cause === TOO_LATE) throw serverGone(giveUpMs, cause);
      if (!isPassing(cause)) throw cause;
      if (MACHINE.monotonic() > deadline) throw serverGone(giveUpMs, cause);
      await pause(RETRY_MS);
    }
  }
}

async function checkAll(commands: RedisCommands): Promise<void> {
  for (const ask of await commands.nodes()) await checkServer(ask);
}

async function checkServer(
  ask: (name: string, args: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const info = String(await ask("INFO", ["server"]));
  const version = Number(/^(?:redis|valkey)_version:(\d+)/m.exec(info)?.[1] ?? VERSION_MIN);
  if (version < VERSION_MIN)
    throw misuse("SERVER_UNFIT", "redis version", version, `${VERSION_MIN} or later, or Valkey`);
  const memory = String(await ask("INFO", ["memory"]));
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? "noeviction";
  if (policy === "noeviction") return;
  const expected = "noeviction: `CONFIG SET maxmemory-policy noeviction`, or URLs are lost";
  throw misuse("SERVER_UNFIT", "maxmemory-policy", policy, expected);
}
