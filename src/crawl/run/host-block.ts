/**
 * A host that asks for a pause while leases of it are in a worker's ring, or wait there for a visit to end: they were handed out before,
 * and return to their places instead of being visited.
 *
 *   429, Retry-After ─▶ block of the host ─▶ lease of it that begins now ─▶ later          no block ─▶ the next gate
 */
import type { Clock } from "../../base/clock.ts";
import type { Frontier } from "../../index.ts";
import { type RobotsGate, withRefusal } from "../robots/robots-gate.ts";

interface HostBlock {
  readonly frontier: Pick<Frontier, "host">;
  readonly clock: Clock;
  /** The politeness unit of a URL. */
  readonly hostKeyOf: (url: string) => string;
}

/** A gate that lets no page of a host through while that host is blocked. */
export function withHostBlock(gate: RobotsGate | undefined, given: HostBlock): RobotsGate {
  const { frontier, clock, hostKeyOf } = given;
  return withRefusal(gate, (url) =>
    frontier.host(hostKeyOf(url)).blockedUntil > clock.now() ? "later" : undefined,
  );
}
