/**
 * Which hosts belong to a crawl: domains that were named, or those of the seeds, each with all below it. A frontier that is
 * given no rules gets one that matches just them, so that the rest is refused (`no-rule`) before anything else is asked.
 */
import type { Frontier, RequestLike, Rule } from "../index.ts";

/** Name of the rule that a crawl makes. */
const SCOPE_RULE = "scope";

/** The rule for the scope; undefined: everything belongs to it, or nothing is known to. */
export function scopeRule(
  frontier: Frontier,
  scope: readonly string[] | "any" | undefined,
  seeds: readonly RequestLike[],
): Rule | undefined {
  if (scope === "any") return undefined;
  const domains = scope ?? domainsOf(frontier, seeds);
  return domains.length === 0 ? undefined : { id: SCOPE_RULE, match: { domains: [...domains] } };
}

function domainsOf(frontier: Frontier, seeds: readonly RequestLike[]): string[] {
  const domains = new Set<string>();
  for (const seed of seeds) {
    const { domain } = frontier.explain(typeof seed === "string" ? seed : { url: seed?.url });
    if (domain !== undefined) domains.add(domain);
  }
  return [...domains];
}
