/** What a server must be like before a frontier is opened on it. */
import { FrontierError, misuse } from "../../../base/errors.ts";
import type { RedisCommands } from "../redis-options.ts";
import { serverGone } from "./server-link.ts";
import { MACHINE, pause } from "./waiting.ts";

const VERSION_MIN = 7;
const RETRY_MS = 200;

/** The servers must be new enough for the scripts, and must not throw keys away by themselves. */
export async function checkServers(commands: RedisCommands, giveUpMs: number): Promise<void> {
  const deadline = MACHINE.monotonic() + giveUpMs;
  for (;;) {
    try {
      const nodes = await commands.nodes();
      for (const ask of nodes) await checkServer(ask);
      return;
    } catch (cause) {
      if (cause instanceof FrontierError) throw cause;
      if (MACHINE.monotonic() > deadline) {
        throw serverGone(giveUpMs, cause);
      }
      await pause(RETRY_MS);
    }
  }
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
  throw misuse(
    "SERVER_UNFIT",
    "maxmemory-policy",
    policy,
    "noeviction: `CONFIG SET maxmemory-policy noeviction`, or URLs are lost",
  );
}
