/**
 * The real frontier as the driver sees it, with the engine's own complete check beside it.
 */
import { existsSync } from "node:fs";
import type { SyncFrontier, SyncOptions } from "./frontier-surface.ts";

export interface Engine {
  open: (options: SyncOptions) => Promise<SyncFrontier>;
  verify: (frontier: SyncFrontier) => void;
}

/** undefined while there is no `openFrontier`: the suites are then shown as skipped. */
export async function loadEngine(): Promise<Engine | undefined> {
  const entry = await load("../../src/engine/open.ts");
  if (!("openFrontier" in entry)) return undefined;
  const check = await load("../../src/engine/verify.ts");
  return {
    open: entry.openFrontier as Engine["open"],
    verify: "verifyFrontier" in check ? (check.verifyFrontier as Engine["verify"]) : () => {},
  };
}

async function load(path: string): Promise<object> {
  const url = new URL(path, import.meta.url);
  return existsSync(url) ? import(url.href) : {};
}
