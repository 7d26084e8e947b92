/** KeepAlive: with the option `keepOpen` the process lives until the frontier is closed, even when no call waits. */
import { stayAlive } from "../../base/clock.ts";
import type { FrontierStatus } from "../types/frontier-types.ts";

export class KeepAlive {
  readonly #isWanted: () => boolean;
  #release: (() => void) | undefined;

  constructor(isWanted: () => boolean) {
    this.#isWanted = isWanted;
  }

  /** The frontier has become this. */
  onStatus(to: FrontierStatus): void {
    if (to === "opening" || to === "stopping" || to === "stopped") {
      this.#release?.();
      this.#release = undefined;
    } else if (this.#isWanted()) this.#release ??= stayAlive();
  }
}
