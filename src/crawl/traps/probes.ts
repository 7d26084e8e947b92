/** Probes: left URLs that are visited at once all the same, ever more rarely: they show whether a trap is still one. */
import { BoundedMap } from "./bounded-map.ts";
import type { Evidence } from "./trap-evidence.ts";

const URLS_MAX = 1_000;

export class Probes {
  readonly #urls = new BoundedMap<string, true>(URLS_MAX);

  /** Counts a URL as left, unless it is a probe. */
  isProbe(trap: Evidence, url: string): boolean {
    if (this.#urls.get(url) === true) return true;
    if (++trap.left < trap.probeAt) return false;
    trap.probeAt *= 2;
    this.#urls.set(url, true);
    return true;
  }

  visited(url: string): void {
    this.#urls.delete(url);
  }
}
