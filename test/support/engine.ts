/**
 * The real frontier as the driver sees it: opened through the public entry, with the engine's own
 * complete check beside it.
 */
import { existsSync } from "node:fs";
import type { SyncFrontier, SyncOptions } from "./frontier-surface.ts";

export interface Engine {
  open: (options: SyncOptions) => Promise<SyncFrontier>;
  verify: (frontier: SyncFrontier) => void;
}

/** undefined while the public entry has no `openFrontier`: the suites are then skipped. */
export async function loadEngine(): Promise<Engine | undefined> {
  const entry: object = await import("../../src/index.ts");
  if (!("openFrontier" in entry)) return undefined;
  const checker = new URL("../../src/engine/verify.ts", import.meta.url);
  const check: object = existsSync(checker) ? await import(checker.href) : {};
  return {
    open: entry.openFrontier as Engine["open"],
    verify: "verifyFrontier" in check ? (check.verifyFrontier as Engine["verify"]) : () => {},
  };
}
