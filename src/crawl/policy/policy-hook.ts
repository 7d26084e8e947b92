/**
 * The user's decision on the policy of a page: a function, or the path of an ES module that exports `decide`.
 *
 *   page with a policy ─▶ decide(policy, page) ─▶ follow: its links · keep: its items and its body ─▶ visit's log line
 *
 *   I1  It is called only for pages with a policy, before an analyzer reads them.
 *   I2  It can only forbid. What robots.txt disallows is not visited, and what the page's own `nofollow` forbids is not followed,
 *       whatever it returns.
 *   I3  If it throws, the page fails with reason `policy`, as after a fault of an analyzer: nothing is used that was not decided on.
 */
import { misuse } from "../../base/errors.ts";
import { loadModule } from "../files.ts";
import type { Page } from "../module-registry.ts";
import type { PagePolicy } from "./page-policy.ts";

/**
 * What becomes of a page.
 *
 * @example
 * await crawl({
 *   seeds: "https://example.org/",
 *   policy: ({ isNoIndex }) => (isNoIndex ? { keep: false, reason: "noindex" } : undefined),
 * }).finished;
 */
export interface PolicyDecision {
  /**
   * Whether its links are followed.
   * @defaultValue true
   */
  follow?: boolean;
  /**
   * Whether its items go to the pipelines, and its body to `saveBodies`.
   * @defaultValue true
   */
  keep?: boolean;
  /**
   * Why; written to the log.
   * @defaultValue none
   */
  reason?: string;
}

/** Decides on a page that has a policy; undefined: as without a hook. */
export type PolicyHook = (
  policy: PagePolicy,
  page: Pick<Page, "url" | "depth" | "rule" | "data" | "status" | "headers" | "contentType">,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook may return nothing.
) => PolicyDecision | undefined | void | Promise<PolicyDecision | undefined | void>;

/** The hook of an option. */
export async function loadPolicyHook(
  given: PolicyHook | string | URL | undefined,
): Promise<PolicyHook | undefined> {
  if (given === undefined || typeof given === "function") return given;
  const exported = await loadModule(given);
  const decide = exported.decide ?? exported.default;
  if (typeof decide === "function") return decide as PolicyHook;
  throw misuse(
    "OPTION_INVALID",
    "policy",
    Object.keys(exported),
    "a module that exports decide(policy, page)",
  );
}

/** A decision with every field filled in. */
export interface TakenDecision {
  /** Whether its links are followed. */
  readonly follow: boolean;
  /** Whether its items and its body are kept. */
  readonly keep: boolean;
  /** Why. */
  readonly reason?: string;
}

/** What a hook returned, with what was left out filled in. Throws TypeError for anything else. */
export function checkDecision(given: unknown): TakenDecision {
  if (given === undefined || given === null) return { follow: true, keep: true };
  if (typeof given !== "object") throw new TypeError("policy: expected { follow, keep, reason }");
  const { follow = true, keep = true, reason } = given as PolicyDecision;
  if (typeof follow !== "boolean") throw new TypeError("policy: follow: expected true or false");
  if (typeof keep !== "boolean") throw new TypeError("policy: keep: expected true or false");
  return { follow, keep, ...(reason === undefined ? {} : { reason: String(reason) }) };
}
