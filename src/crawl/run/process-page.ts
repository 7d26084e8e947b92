/**
 * Processes a downloaded page: the analyzer, then a pipeline for each item, then the end of the lease.
 *
 *   page ─▶ policy ─▶ the user's decision ─▶ analyzer (the user's, or the built-in) ─▶ items ─▶ pipeline ─▶ done({ found })
 *
 *   I1  Items are handed over before the page is done: a crash repeats items, it loses none.
 *       What counts as an item is what its last step has taken: nothing that was dropped, and nothing that was not stored.
 *   I2  Data and errors of one analysis are both used; null and undefined are skipped.
 */
import type { Outcome, RequestLike } from "../../index.ts";
import { createTextDigest, type TextDigest } from "../page/text-digest.ts";
import { isHtmlType, readPage } from "../page/extract-page.ts";
import type { Analysis, Chosen, Download, Extract, ItemSource, Page } from "../module-registry.ts";
import { asidePriority, laterPriority } from "../traps/last-places.ts";
import { isTrapUrl } from "../page/trap-links.ts";
import { type PagePolicy, policyOf } from "../policy/page-policy.ts";
import { checkDecision, type TakenDecision } from "../policy/policy-hook.ts";
import { robotsMeta, robotsTag } from "../robots/robots-meta.ts";
import { productOf } from "../robots/robots-rules.ts";
import { validatorsOf } from "../http/conditional-requests.ts";
import {
  type Answered,
  textOf,
  typeOf,
  type VisitContext,
  type VisitEnd,
  type VisitLease,
} from "./visit-context.ts";

/** Ends the lease of a page that was answered well. */
export async function processPage(
  lease: VisitLease,
  context: VisitContext,
  { answer, outcome }: Answered,
): Promise<VisitEnd> {
  const isCompared = context.validators.isWanted(lease.rule);
  const isWatched = context.traps !== undefined;
  const digest =
    isCompared || isWatched ? createTextDigest(isWatched ? lease.url : undefined) : undefined;
  const page = pageOf(lease, context, { answer, digest });
  const policy = await page.policy();
  const decision = await decisionOn(page, policy, context);
  if (decision === "thrown") {
    lease.fail("policy", outcome);
    return "other";
  }
  const analysis = await analysisOf(page, lease, context);
  if (analysis === "thrown") {
    lease.fail("analyzer", outcome);
    return "other";
  }
  const errors: unknown[] = [];
  for (const cause of analysis?.errors ?? []) {
    if (cause === undefined || cause === null) continue;
    errors.push(cause);
    context.faults.report({ type: "analyzer", what: textOf(cause), url: lease.url, cause });
  }
  const items = decision.keep ? (analysis?.items ?? []) : [];
  const isTaken = await handOver(lease, context, { items, policy });
  if (!isTaken) {
    lease.retry({ reason: "pipeline", outcome });
    return "other";
  }
  const isFollowed = decision.follow && !context.limits.sitemapOnly;
  const links = isFollowed ? (analysis?.found ?? (await linksOf(page))) : [];
  if (digest !== undefined && isWatched) await watch(page, context, digest);
  const found = filterFound(links, context, lease.depth + 1);
  if (decision.keep) context.bodies?.save(page);
  const compared =
    digest === undefined || !isCompared
      ? outcome
      : await compare(lease, context, { page, answer, outcome, digest });
  const hasDecided = policy !== undefined && context.policyHook !== undefined;
  const policyFields = { ...(policy && { policy }), ...(hasDecided ? { decision } : {}) };
  const result = lease.done({ found, errors, outcome: compared, ...policyFields });
  context.counters.pages++;
  context.onPage({
    url: lease.url,
    status: answer.status,
    depth: lease.depth,
    bytes: answer.bytes,
    latencyMs: answer.latencyMs,
    contentType: page.contentType,
    title: isHtmlType(page.contentType) ? (await page.extract()).title : "",
    found: found.length,
    accepted: result === undefined ? undefined : result.accepted + result.deferred,
    ...(policy && { policy }),
  });
  return "page";
}

/** What the user's analyzer, or the built-in one, finds on a page. */
async function analysisOf(
  page: Page,
  { url }: VisitLease,
  context: VisitContext,
): Promise<Analysis | undefined | "thrown"> {
  const chosen = context.modules.choose("analyzer");
  if (chosen === undefined) return await builtIn(page, context);
  let isCompleted = false;
  chosen.accepted();
  try {
    const analysis = checkAnalysis(await chosen.module.analyze(page));
    isCompleted = true;
    return analysis;
  } catch (cause) {
    const about = { url, module: chosen.id, cause };
    context.faults.report({ type: "analyzer", what: textOf(cause), ...about });
    return "thrown";
  } finally {
    chosen.ended(isCompleted);
  }
}

const ALL: TakenDecision = Object.freeze({ follow: true, keep: true });

/** The decision of the user's hook on the policy of a page. */
async function decisionOn(
  page: Page,
  policy: PagePolicy | undefined,
  { policyHook, faults }: VisitContext,
): Promise<TakenDecision | "thrown"> {
  if (policyHook === undefined || policy === undefined) return ALL;
  try {
    return checkDecision(await policyHook(policy, page));
  } catch (cause) {
    const about = { url: page.url, module: "policy", cause };
    faults.report({ type: "analyzer", what: textOf(cause), ...about });
    return "thrown";
  }
}

async function linksOf(page: Page): Promise<string[]> {
  return (await page.extract()).links;
}

/** What is found without an analyzer of the user's: links, and a sample item where they are asked for. */
async function builtIn(page: Page, context: VisitContext): Promise<Analysis> {
  const { title, textLength, links, canonical, isNoIndex } = await page.extract();
  if (!context.limits.sampleItems || isNoIndex) return { found: links };
  const { url, status, depth, contentType, bytes } = page;
  const item = { url, status, depth, contentType, bytes, title, textLength, links: links.length };
  return { found: links, items: [canonical === undefined ? item : { ...item, canonical }] };
}

/** Hands items to a pipeline, one by one and in order; false: a step threw, and the page is to be tried again. */
async function handOver(
  lease: VisitLease,
  context: VisitContext,
  { items, policy }: { items: Iterable<unknown>; policy: PagePolicy | undefined },
): Promise<boolean> {
  const source: ItemSource = { url: lease.url, depth: lease.depth, ...(policy && { policy }) };
  for (const item of items) {
    if (item === undefined || item === null) continue;
    const chosen = context.modules.choose("pipeline");
    const end =
      chosen === undefined ? "kept" : await handOverOne(source, context, { chosen, item });
    if (end === "refused") return false;
    if (end === "dropped") continue;
    context.counters.items++;
    context.onItem(item, lease.url);
  }
  return true;
}

/** `kept`: its last step ran, which is the one that stores. `refused`: a step threw, and the page is tried again. */
type ItemEnd = "kept" | "dropped" | "refused";

async function handOverOne(
  source: ItemSource,
  context: VisitContext,
  { chosen, item }: { chosen: Chosen<"pipeline">; item: unknown },
): Promise<ItemEnd> {
  const { processors, failFast = true } = chosen.module;
  let current = item;
  let isCompleted = true;
  let end: ItemEnd = "kept";
  chosen.accepted();
  for (const processor of processors) {
    try {
      const next = await processor(current, source);
      end = next === null ? "dropped" : "kept";
      if (next === null) break;
      if (next !== undefined) current = next;
    } catch (cause) {
      isCompleted = false;
      end = failFast ? "refused" : "dropped";
      const { url } = source;
      const { id: module } = chosen;
      context.faults.report({ type: "pipeline", what: textOf(cause), url, module, cause });
      if (failFast) break;
    }
  }
  chosen.ended(isCompleted);
  return end;
}

/** Passes a page to the watch that recognises traps. */
async function watch(
  page: Page,
  { traps, isNew }: VisitContext,
  digest: TextDigest,
): Promise<void> {
  if (!isHtmlType(page.contentType)) return;
  const { links } = await page.extract();
  traps?.visited({ url: page.url, digest, links, isNew: isNew ?? (() => false) });
}

interface Compared extends Answered {
  readonly page: Page;
  readonly digest: TextDigest;
}

/** Whether the page has changed since its last visit, by its visible text: a page may call itself new at each visit. */
async function compare(
  lease: VisitLease,
  { validators }: VisitContext,
  { page, answer, outcome, digest }: Compared,
): Promise<Outcome> {
  if (!isHtmlType(page.contentType)) digest.add(answer.body.toString("latin1"));
  await page.extract();
  const content = answer.isSkipped === true ? undefined : digest.content();
  const before = validators.contentFor(lease.url, lease.rule);
  await validators.offer(lease, { headers: validatorsOf(answer), content });
  const { changed: _, ...rest } = outcome;
  if (content === undefined || before === undefined) return rest;
  return { ...rest, changed: content !== before };
}

function pageOf(
  lease: VisitLease,
  context: VisitContext,
  { answer, digest }: { readonly answer: Download; readonly digest: TextDigest | undefined },
): Page {
  const contentType = typeOf(answer.headers);
  const { url } = lease;
  const isHtml = isHtmlType(contentType) && answer.isSkipped !== true;
  let extract: Promise<Extract> | undefined;
  const read = async (): Promise<Extract> => {
    if (!isHtml) return NOTHING;
    const options = {
      url,
      body: answer.body,
      contentType: String(answer.headers["content-type"] ?? ""),
      robotsTag: answer.headers["x-robots-tag"] ?? "",
      userAgent: context.userAgent,
      maxLinks: context.limits.maxLinks,
    };
    const found = await readPage(options, digest);
    context.counters.tooLong += found.tooLong;
    context.counters.tooMany += found.tooMany;
    return found;
  };
  const robots = context.gate?.statementsFor(url) ?? [];
  let policy: Promise<PagePolicy | undefined> | undefined;
  const readPolicy = async (): Promise<PagePolicy | undefined> => {
    const tag = robotsTag(answer.headers["x-robots-tag"] ?? "", productOf(context.userAgent));
    const { metaRobots = "" } = isHtml ? await page.extract() : {};
    const meta = metaRobots === "" ? undefined : robotsMeta(metaRobots);
    const { headers } = answer;
    return policyOf({ headers, robots, tag, meta, nowMs: context.clock.now() });
  };
  const page: Page = {
    url,
    depth: lease.depth,
    rule: lease.rule,
    data: lease.data,
    status: answer.status,
    headers: answer.headers,
    body: answer.body,
    bytes: answer.bytes,
    isTruncated: answer.isTruncated ?? false,
    contentType,
    extract() {
      extract ??= read();
      return extract;
    },
    policy() {
      policy ??= readPolicy();
      return policy;
    },
  };
  return page;
}

const NOTHING: Extract = Object.freeze({
  title: "",
  textLength: 0,
  charset: "",
  links: [],
  tooLong: 0,
  tooMany: 0,
  isNoIndex: false,
  isNoFollow: false,
  metaRobots: "",
});

/** The counter of links that are left as this one, or that it is set aside; undefined: it is followed. */
function leftAs(
  url: string,
  { limits, patterns, traps, budgets }: VisitContext,
  hasPlain = false,
): "trapped" | "excluded" | "overBudget" | "aside" | undefined {
  if (limits.trapFilter && isTrapUrl(url)) return "trapped";
  if (patterns?.refusal(url) !== undefined) return "excluded";
  const verdict = traps?.linkOf(url, hasPlain);
  if (verdict === "leave") return "trapped";
  if (budgets?.admits(url) === false) return "overBudget";
  return verdict === "aside" ? "aside" : undefined;
}

/** Why a link is left, as it is or without what means nothing. A budget is asked once, for the URL that would be visited. */
function leftFirst(
  url: unknown,
  plain: string | undefined,
  context: VisitContext,
): ReturnType<typeof leftAs> {
  if (typeof url !== "string") return undefined;
  if (plain === undefined) return leftAs(url, context);
  return leftAs(url, { ...context, budgets: undefined }, true) ?? leftAs(plain, context);
}

/** Links that do not have the form of a trap and that `include` and `exclude` permit; without parts that mean nothing. */
function filterFound(
  found: Iterable<RequestLike>,
  context: VisitContext,
  depth: number,
): RequestLike[] {
  const kept: RequestLike[] = [];
  for (const one of found) {
    const url = one instanceof URL ? one.href : typeof one === "string" ? one : one?.url;
    const plain = typeof url === "string" ? context.traps?.plainOf(url) : undefined;
    const left = leftFirst(url, plain, context);
    if (left === undefined || left === "aside")
      kept.push(placed(one, plain ?? url, context, left && asidePriority(depth)));
    else context.counters[left]++;
  }
  return kept;
}

/** A link by its plain URL, behind others where nothing is expected of it. */
function placed(
  one: RequestLike,
  url: string | undefined,
  { traps }: VisitContext,
  aside: number | undefined,
): RequestLike {
  if (url === undefined) return one;
  const fields = typeof one === "object" && !(one instanceof URL) ? one : undefined;
  if (aside !== undefined) return { ...fields, url, priority: aside };
  const doubt = traps?.doubtOf(url) ?? 0;
  if (doubt > 0) return { priority: laterPriority(doubt), ...fields, url };
  return fields === undefined ? url : { ...fields, url };
}

/** A user's analyzer may return anything; a wrong value is reported by name. */
function checkAnalysis(given: unknown): Analysis | undefined {
  if (given === undefined || given === null) return undefined;
  for (const field of ["found", "items", "errors"] as const) {
    const value = (given as Analysis)[field];
    if (value === undefined || (typeof value === "object" && Symbol.iterator in value)) continue;
    throw new TypeError(`${field}: expected a list`);
  }
  if (typeof given !== "object") throw new TypeError("expected { found, items, errors }");
  return given as Analysis;
}
