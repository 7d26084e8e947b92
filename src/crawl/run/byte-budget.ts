/**
 * The byte budget of a host as a bound on visits: the frontier refuses URLs found once it is used up, and this gate ends those that
 * were already pending, sitemaps too. So a host's bytes are at most the budget and the visits in progress when it was reached.
 *
 *   lease ─▶ bytes of its host ≥ maxHostBytes? ─ yes ─▶ over-budget: failed, not downloaded
 *                       └─ no ─▶ the next gate (robots.txt)
 */
import type { Frontier } from "../../index.ts";
import { type RobotsGate, withRefusal } from "../robots/robots-gate.ts";

interface ByteBudget {
  readonly frontier: Pick<Frontier, "host">;
  readonly maxHostBytes: number;
  /** The politeness unit of a URL. */
  readonly hostKeyOf: (url: string) => string;
}

/** A gate that lets a host's pages through until its bytes are used up. */
export function withByteBudget(gate: RobotsGate | undefined, budget: ByteBudget): RobotsGate {
  const { frontier, maxHostBytes, hostKeyOf } = budget;
  return withRefusal(gate, (url) =>
    frontier.host(hostKeyOf(url)).bytes >= maxHostBytes ? "over-budget" : undefined,
  );
}
