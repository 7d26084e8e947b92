/** Why a URL is, or is not, handed out. */
import type { PlainRequest } from "../../../base/request-types.ts";
import type { Explanation, FrontierStatus } from "../../../engine/types/frontier-types.ts";
import { refusalOf } from "../../../frontier/admission/admission-input.ts";
import {
  VERDICT_ACCEPTED,
  VERDICT_DEFERRED,
  VERDICT_DUPLICATE,
  VERDICT_NO_RULE,
  VERDICT_TOO_DEEP,
  verdictOf,
} from "../../../frontier/admission/verdicts.ts";
import { FOREVER } from "../../../frontier/epochs/epoch-policy.ts";
import { BATCH_OK } from "../../../url/batch/row-fields.ts";
import { registrableDomain } from "../../../url/parsing/registrable-domain.ts";
import type { Located } from "../requests/request-reader.ts";
import type { Edits } from "./edits.ts";
import type { PushParts } from "./pushes.ts";
import { type Found, stateOf } from "./record-views.ts";
import { hostOf } from "./redis-host.ts";
import type { RedisParts } from "./redis-types.ts";
import { leasedOf } from "./state-report.ts";

type Parts = PushParts & Pick<RedisParts, "maxLeases">;

interface Moment {
  readonly nowMs: number;
  readonly status: FrontierStatus;
}

export async function explain(
  parts: Parts,
  edits: Edits,
  input: PlainRequest,
  moment: Moment,
): Promise<Explanation> {
  const { located, found } = await edits.find(input);
  const { status, canonical, host, spec, fingerprint, epoch } = located;
  const url = typeof input === "string" ? input : input.url;
  if (status !== BATCH_OK) return { url, verdict: verdictOf(refusalOf(status)) };
  return {
    ...{ url, canonical, fingerprint: fingerprint.toString("hex") },
    ...(spec === undefined ? {} : { rule: spec.id }),
    ...{ host, domain: registrableDomain(host), epoch: epoch === "" ? FOREVER : epoch },
    verdict: verdictOf(foreseen(located, found, input, moment.nowMs)),
    ...(found === undefined
      ? {}
      : { state: stateOf(found), ...(await holdOf(parts, located.unit, found, moment)) }),
  };
}

/** The code that a push would get now. */
function foreseen(
  { spec, hasIdentity }: Located,
  found: Found | undefined,
  input: PlainRequest,
  nowMs: number,
): number {
  const { depth = 0, notBefore, dedup = "check" } = typeof input === "string" ? {} : input;
  if (spec === undefined) return VERDICT_NO_RULE;
  if (depth > spec.policy.maxDepth) return VERDICT_TOO_DEEP;
  const isKnown = found !== undefined && hasIdentity && dedup === "check";
  const mayReturn = spec.policy.epoch.kind === "again" && found !== undefined;
  const isBack = mayReturn && (/[df]/.test(found.letter) || (found.dueMs ?? nowMs + 1) <= nowMs);
  if (isKnown && !isBack) return VERDICT_DUPLICATE;
  return Number(notBefore ?? 0) > nowMs ? VERDICT_DEFERRED : VERDICT_ACCEPTED;
}

/** What keeps a record from going, and until when where a clock does. */
async function holdOf(
  parts: Parts,
  unit: string,
  { letter, dueMs, lease }: Found,
  { nowMs, status }: Moment,
): Promise<Pick<Explanation, "heldBy" | "dueAt">> {
  if (letter === "l") return { heldBy: "lease", dueAt: lease.readDoubleBE(8) };
  if (letter === "z" && dueMs !== undefined) return { heldBy: "every", dueAt: dueMs };
  if (letter === "w" && dueMs !== undefined) return { heldBy: "notBefore", dueAt: dueMs };
  if (letter !== "p") return {};
  const view = await hostOf(parts, unit).view();
  if (view.held) return { heldBy: "hold" };
  const at = Math.max(view.readyAt, view.blockedUntil);
  if (at > nowMs) return { heldBy: at === view.blockedUntil ? "block" : "delay", dueAt: at };
  if (view.leased >= view.limit) return { heldBy: "limit" };
  if (status === "paused" || status === "draining") return { heldBy: "paused" };
  const { link, maxLeases } = parts;
  if (maxLeases > 0 && (await leasedOf(link)) >= maxLeases) return { heldBy: "maxLeases" };
  return { dueAt: nowMs };
}
