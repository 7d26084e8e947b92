/** The politeness unit of a URL: its host, its registrable domain, or what the user's own function returns. */
import { refusePromise } from "../../base/errors.ts";
import { registrableDomain } from "../../url/parsing/registrable-domain.ts";
import type { Core } from "../core.ts";
import type { FrontierPolicy } from "../rules/rule-policy.ts";

/**
 * Name of the unit under a policy. A function that throws is reported as a fault; then, and where it answers no text, the host is the unit:
 * no input stops the engine.
 */
export function unitOf(core: Core, { by }: FrontierPolicy, url: string, host: string): string {
  if (by === "host") return host;
  if (by === "domain") return registrableDomain(host);
  core.isAsking = true; // the user's function must not come back in
  try {
    const unit: unknown = by(url);
    refusePromise("by", unit, "a string");
    if (typeof unit === "string" && unit !== "") return unit;
  } catch (cause) {
    core.sink.fault("by", cause, url);
  } finally {
    core.isAsking = false;
  }
  return host;
}
