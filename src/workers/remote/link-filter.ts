/**
 * LinkFilter: decides about links in a worker's thread, so that the owner sees mostly new and wanted ones. It parses, finds the
 * rule and hashes as the owner would, and drops links that cannot change anything there.
 *
 *   links ─▶ followed? ─▶ kernel: parse ─▶ rule ─▶ deep? ─▶ kernel: key, hash ─▶ on this page before? ─▶ own table ─▶ shared filter ─▶ kept
 *            no follow    invalid, scheme  no rule  too deep                      duplicate              duplicate     duplicate
 *
 * The own table is a small copy of the filter's answers, so that the links on every page of a site cost no cache miss.
 *
 *   I1  A link is dropped as a duplicate only where the owner has admitted its identity at this depth or a
 *       shallower one, in this generation, or where it occurs twice on one page.
 *   I2  A kept link is sent byte for byte: the owner decides on the same string, by its own rules.
 *   I3  Every dropped link is counted, and the counts are sent to the owner with the page.
 *   I4  A set of rules decides only while it is the owner's: setRules changes the generation before it returns, and until
 *       this thread has read the new set everything is kept. A link refused before was refused before the change.
 *
 * The owner switches the filter off (SHARED_FACTS_WORD) where listeners must see every link or keys do not follow a plain policy.
 * Where hooks, budgets, epochs or a bloom decide, workers apply the rules only and drop no duplicates.
 */
import { createKernel, type KernelModule, kernelTake } from "../../kernel/kernel.ts";
import {
  BATCH_INVALID,
  BATCH_NO_RULE,
  BATCH_OK,
  BATCH_ROW_WORDS,
  BATCH_SCHEME,
  BATCH_TOO_DEEP,
  BATCH_TOO_LONG,
  ROW_STATUS_WORD,
} from "../../layout/calls/url-batch.ts";
import {
  SHARED_FACTS_WORD,
  SHARED_FILTER_OFFSET,
  FACTS_OFF,
} from "../../layout/threads/worker-seats.ts";
import {
  attachSeenFilter,
  filterHas,
  type SeenFilter,
} from "../../structures/threads/seen-filter.ts";
import {
  batchAdmit,
  batchIsAbsolute,
  batchLoad,
  batchParse,
  createUrlBatch,
  NO_TARGET,
} from "../../url/batch/url-batch.ts";
import type { UrlBatch } from "../../url/batch/batch-memory.ts";
import { batchSettle } from "../../url/batch/key-and-hash.ts";
import { createHostMemo, type HostMemo } from "../../url/matching/host-memo.ts";
import { matchRows } from "../../url/matching/match-rows.ts";
import { createMatcher, type Matcher, NO_RULE } from "../../url/matching/rule-matcher.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import { absoluteLinks } from "../../url/parsing/page-links.ts";
import type { Rows } from "../../url/batch/row-fields.ts";
import type { CrewHandle } from "../protocol/shared-memory.ts";
import type { LinkFacts, LinkRule } from "../protocol/link-facts-message.ts";
import type { PushAnswer } from "./worker-lease.ts";

/** Links that a page has pushed so far. */
export interface Page {
  readonly links: string[];
  /** Duplicates, then refusals by reason, as in the message. */
  readonly dropped: number[];
  /** Identifies the page in the table of its own links. */
  readonly serial: number;
  readonly depth: number;
  /** Rule of the page; undefined: the links belong to no page. */
  readonly rule: string | undefined;
}

export interface LinkFilter {
  readonly shared: Int32Array;
  readonly batch: UrlBatch;
  readonly rows: Rows;
  readonly filter: SeenFilter;
  readonly memo: HostMemo;
  /** Plans of the rows' hosts, a word each, in the kernel's memory. */
  readonly numbers: number;
  /** OWN_ENTRIES of low word, high word, depth + 1. */
  readonly own: Int32Array;
  /** OWN_ENTRIES of low word, high word, serial of the page. */
  readonly page: Int32Array;
  /** The facts of this thread, and their generation. */
  generation: number;
  policy: NormalPolicy | undefined;
  rules: readonly LinkRule[];
  /** The rule that takes every URL, if there is one. */
  sole: LinkRule | undefined;
  matcher: Matcher;
  /** Rules whose pages' links are not followed. */
  readonly unfollowed: Set<string>;
}

/** 48 KiB: stays in the first levels of the cache. */
const OWN_ENTRIES = 4096;
const OWN_WORDS = 3;

/** KEPT: the owner must see the link. Otherwise the index of the count under which it is dropped. */
const KEPT = -1;
const DUPLICATE = 0;
const REFUSED_INVALID = 1;
const REFUSED_SCHEME = 2;
const REFUSED_TOO_LONG = 3;
const REFUSED_TOO_DEEP = 4;
const REFUSED_NO_RULE = 5;
const REFUSED_NO_FOLLOW = 6;

/** Creates the filter of this thread, which decides nothing yet. */
export function createLinkFilter(handle: CrewHandle, shared: Int32Array): LinkFilter {
  const { maxUrlBytes, kernel: module, memory } = handle;
  const kernel = createKernel(module as KernelModule);
  const batch = createUrlBatch(kernel, { maxUrlBytes });
  const memo = createHostMemo(kernel);
  return {
    shared,
    batch,
    rows: { kernel, offset: batch.area.header },
    filter: attachSeenFilter({ buffer: memory, offset: SHARED_FILTER_OFFSET }),
    memo,
    numbers: kernelTake(kernel, 1),
    own: new Int32Array(OWN_ENTRIES * OWN_WORDS),
    page: new Int32Array(OWN_ENTRIES * OWN_WORDS),
    generation: FACTS_OFF,
    policy: undefined,
    rules: [],
    sole: undefined,
    matcher: createMatcher([], memo),
    unfollowed: new Set(),
  };
}

/** Replaces the facts by those of a generation; everything remembered under the one before is forgotten. */
export function setLinkFacts(linkFilter: LinkFilter, generation: number, facts: LinkFacts): void {
  const { rules, policy, secret } = facts;
  const { area } = linkFilter.batch;
  area.kernel.region.views.u32.set(secret, area.secret >>> 2);
  linkFilter.policy = policy;
  linkFilter.rules = rules;
  const matches = rules.map(({ match }) => match);
  linkFilter.matcher = createMatcher(matches, linkFilter.memo);
  linkFilter.sole = linkFilter.matcher.all === NO_RULE ? undefined : rules[linkFilter.matcher.all];
  linkFilter.unfollowed.clear();
  for (const { id, follow } of rules) if (!follow) linkFilter.unfollowed.add(id);
  linkFilter.own.fill(0);
  linkFilter.page.fill(0);
  linkFilter.generation = generation;
}

/** Links of a page, and the URL that relative ones are resolved against; undefined: they stay as they are. */
export interface PageLinks {
  readonly list: readonly string[];
  readonly base: string | undefined;
}

/** Adds to a page the links that the owner must see, and an answer for each link. Returns how many were dropped. @hot */
export function filterLinks(
  linkFilter: LinkFilter | undefined,
  { list, base }: PageLinks,
  page: Page,
  answers: PushAnswer[],
): number {
  if (linkFilter === undefined || !isOn(linkFilter)) {
    const links = base === undefined ? list : absoluteLinks(list, base);
    for (let at = 0; at < links.length; at++) {
      page.links.push(links[at] as string);
      answers.push("queued");
    }
    return 0;
  }
  const { dropped } = page;
  if (
    linkFilter.unfollowed.size > 0 &&
    page.rule !== undefined &&
    linkFilter.unfollowed.has(page.rule)
  ) {
    dropped[REFUSED_NO_FOLLOW] = (dropped[REFUSED_NO_FOLLOW] as number) + list.length;
    for (let at = 0; at < list.length; at++) answers.push("rejected");
    return list.length;
  }
  const kept = page.links.length;
  let links = list;
  for (let start = 0; start < links.length; ) {
    let count = batchLoad(linkFilter.batch, links, start);
    if (base !== undefined && links === list && !batchIsAbsolute(linkFilter.batch)) {
      links = absoluteLinks(list, base);
      count = batchLoad(linkFilter.batch, links, start);
    }
    prepareRows(linkFilter, page.depth);
    filterRows(linkFilter, links, start, page, answers);
    start += count;
  }
  return links.length - (page.links.length - kept);
}

/** Prepares the loaded rows as the owner would: a status, and a hash where identities are decided here. */
function prepareRows(linkFilter: LinkFilter, depth: number): void {
  const { batch, policy, sole } = linkFilter;
  const parsed = sole === undefined || policy === undefined ? batchParse(batch) : undefined;
  if (sole === undefined) {
    const { matcher, numbers, rows, rules } = linkFilter;
    const maxDepthOf = (order: number): number => (rules[order] as LinkRule).maxDepth;
    matchRows({ matcher, numbers, numberOf: () => 0, maxDepthOf }, rows, batch.count, depth);
  }
  if (policy === undefined) return;
  if (parsed !== undefined) batchSettle(parsed, policy, () => policy, NO_TARGET);
  else batchAdmit(batch, policy, NO_TARGET);
}

/** @hot */
function filterRows(
  linkFilter: LinkFilter,
  links: readonly string[],
  start: number,
  page: Page,
  answers: PushAnswer[],
): void {
  const { area, count } = linkFilter.batch;
  const { u32 } = area.kernel.region.views;
  const { dropped } = page;
  const isDeep = linkFilter.sole !== undefined && page.depth > linkFilter.sole.maxDepth;
  const canKnow = linkFilter.policy !== undefined;
  let hash = area.hashes >>> 2;
  let status = (area.rows >>> 2) + ROW_STATUS_WORD;
  for (let row = 0; row < count; row++, hash += 2, status += BATCH_ROW_WORDS) {
    let reason = KEPT;
    if (u32[status] !== BATCH_OK) reason = reasonOf(u32[status] as number);
    else if (isDeep) reason = REFUSED_TOO_DEEP;
    else if (canKnow && isKnown(linkFilter, u32[hash] as number, u32[hash + 1] as number, page)) {
      reason = DUPLICATE;
    }
    if (reason === KEPT) {
      page.links.push(links[start + row] as string);
      answers.push("queued");
      continue;
    }
    dropped[reason] = (dropped[reason] as number) + 1;
    answers.push(reason === DUPLICATE ? "duplicate" : "rejected");
  }
}

/** @hot */
function isKnown(linkFilter: LinkFilter, lo: number, hi: number, page: Page): boolean {
  const { own, page: table } = linkFilter;
  const at = (hi & (OWN_ENTRIES - 1)) * OWN_WORDS;
  const depth = page.depth + 1;
  const isOwn = own[at] === (lo | 0) && own[at + 1] === (hi | 0);
  if (isOwn && (own[at + 2] as number) <= depth) return true;
  if (filterHas(linkFilter.filter, lo, hi, page.depth)) {
    own[at] = lo | 0;
    own[at + 1] = hi | 0;
    own[at + 2] = depth;
    return true;
  }
  const isHere = table[at] === (lo | 0) && table[at + 1] === (hi | 0);
  if (isHere && table[at + 2] === page.serial) return true;
  table[at] = lo | 0;
  table[at + 1] = hi | 0;
  table[at + 2] = page.serial;
  return false;
}

/** Whether this thread may decide now: it has the facts in force. */
function isOn({ shared, generation }: LinkFilter): boolean {
  if (generation === FACTS_OFF) return false;
  return Atomics.load(shared, SHARED_FACTS_WORD) === generation; // pairs with the owner's store
}

function reasonOf(status: number): number {
  if (status === BATCH_INVALID) return REFUSED_INVALID;
  if (status === BATCH_SCHEME) return REFUSED_SCHEME;
  if (status === BATCH_NO_RULE) return REFUSED_NO_RULE;
  if (status === BATCH_TOO_DEEP) return REFUSED_TOO_DEEP;
  // The owner may decide otherwise about links of another kind.
  return status === BATCH_TOO_LONG ? REFUSED_TOO_LONG : KEPT;
}
