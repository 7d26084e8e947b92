/** The politeness unit of a URL: its host, its registrable domain, or what the user's own function says. */
import { registrableDomain } from "../url/domain.ts";
import type { FrontierPolicy } from "./policy.ts";

/** Name of the unit under a policy. A function that throws or answers no text falls back to the host. */
export function unitOf({ by }: FrontierPolicy, url: string, host: string): string {
  if (by === "host") return host;
  if (by === "domain") return registrableDomain(host);
  try {
    const unit: unknown = by(url);
    if (typeof unit === "string" && unit !== "") return unit;
  } catch {
    // The fall-back below is the answer: no input stops the engine.
  }
  return host;
}
