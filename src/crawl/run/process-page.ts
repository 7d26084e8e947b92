/**
 * The work on a page that is there: analyzer, then each item through a pipeline, then its one end.
 *
 *   page ─▶ analyzer (the user's, or the built-in) ─▶ items ─▶ pipeline ─▶ done({ found })
 *
 *   I1  Items are handed over before the page is done: a crash repeats items, it loses none.
 *       What counts as an item is what its last step has taken: nothing that was dropped, and nothing that was not stored.
 *   I2  Data and errors of one analysis are both used; what is null or undefined is passed over.
 */
import type { RequestLike } from "../../index.ts";
import { extractPage, isHtmlType } from "../page/extract-page.ts";
import type { Analysis, Chosen, Download, Extract, Page } from "../module-registry.ts";
import { isTrapUrl } from "../page/trap-links.ts";
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
  const page = pageOf(lease, context, answer);
  const chosen = context.modules.choose("analyzer");
  const errors: unknown[] = [];
  let analysis: Analysis | undefined;
  if (chosen === undefined) analysis = await builtIn(page, context);
  else {
    let isCompleted = false;
    chosen.accepted();
    try {
      analysis = checkAnalysis(await chosen.module.analyze(page));
      isCompleted = true;
    } catch (cause) {
      const { url } = lease;
      context.faults.report({
        type: "analyzer",
        what: textOf(cause),
        url,
        module: chosen.id,
        cause,
      });
      lease.fail("analyzer", outcome);
      return "other";
    } finally {
      chosen.ended(isCompleted);
    }
  }
  for (const cause of analysis?.errors ?? []) {
    if (cause === undefined || cause === null) continue;
    errors.push(cause);
    context.faults.report({ type: "analyzer", what: textOf(cause), url: lease.url, cause });
  }
  const isKept = await handOver(lease, context, analysis?.items ?? []);
  if (!isKept) {
    lease.retry({ reason: "pipeline", outcome });
    return "other";
  }
  const links = context.limits.sitemapOnly ? [] : (analysis?.found ?? (await linksOf(page)));
  const found = filterFound(links, context);
  context.bodies?.save(page);
  const { validators } = context;
  if (validators.isWanted(lease.rule)) await validators.offer(lease, validatorsOf(answer));
  const result = lease.done({ found, errors, outcome });
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
  });
  return "page";
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
  items: Iterable<unknown>,
): Promise<boolean> {
  for (const item of items) {
    if (item === undefined || item === null) continue;
    const chosen = context.modules.choose("pipeline");
    const end = chosen === undefined ? "kept" : await handOverOne(lease, context, { chosen, item });
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
  lease: VisitLease,
  context: VisitContext,
  { chosen, item }: { chosen: Chosen<"pipeline">; item: unknown },
): Promise<ItemEnd> {
  const { processors, failFast = true } = chosen.module;
  const source = { url: lease.url, depth: lease.depth };
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
      const { url } = lease;
      const { id: module } = chosen;
      context.faults.report({ type: "pipeline", what: textOf(cause), url, module, cause });
      if (failFast) break;
    }
  }
  chosen.ended(isCompleted);
  return end;
}

function pageOf(lease: VisitLease, context: VisitContext, answer: Download): Page {
  const contentType = typeOf(answer.headers);
  const { url } = lease;
  let extract: Promise<Extract> | undefined;
  const read = async (): Promise<Extract> => {
    if (!isHtmlType(contentType) || answer.isSkipped) return NOTHING;
    const found = await extractPage({
      url,
      body: answer.body,
      contentType: String(answer.headers["content-type"] ?? ""),
      robotsTag: answer.headers["x-robots-tag"] ?? "",
      userAgent: context.userAgent,
      maxLinks: context.limits.maxLinks,
    });
    context.counters.tooLong += found.tooLong;
    context.counters.tooMany += found.tooMany;
    return found;
  };
  return {
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
  };
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
});

/** Those that look like no trap, and that `include` and `exclude` take. */
function filterFound(found: Iterable<RequestLike>, context: VisitContext): RequestLike[] {
  const kept: RequestLike[] = [];
  for (const one of found) {
    const url = one instanceof URL ? one.href : typeof one === "string" ? one : one?.url;
    if (context.limits.trapFilter && typeof url === "string" && isTrapUrl(url))
      context.counters.trapped++;
    else if (typeof url === "string" && context.patterns?.refusal(url) !== undefined)
      context.counters.excluded++;
    else kept.push(one);
  }
  return kept;
}

/** An analyzer of the user may answer anything; what is wrong is told by name. */
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
