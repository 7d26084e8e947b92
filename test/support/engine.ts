/**
 * The real frontier as the driver sees it, with the engine's own complete check beside it.
 */
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import type { SyncFrontier, SyncOptions } from "./frontier-surface.ts";

export interface Engine {
  open: (options: SyncOptions) => Promise<SyncFrontier>;
  verify: (frontier: SyncFrontier) => void;
}

export const engine: Engine = {
  open: openFrontier as Engine["open"],
  verify: verifyFrontier as Engine["verify"],
};
