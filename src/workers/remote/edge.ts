/**
 * Edge: what a worker decides about links by itself, so that the owner sees mostly new ones. It parses and hashes as the
 * owner would and drops what can not change anything there.
 *
 *   links ─▶ kernel: parse, key, hash ─▶ crawlable? ─▶ deep? ─▶ on this page before? ─▶ own table ─▶ shared filter ─▶ kept
 *                                        refused      refused   duplicate              duplicate    duplicate
 *
 * The own table is a small copy of what the filter said, so that the links of a site's every page cost no cache miss.
 *
 *   I1  A link is dropped as a duplicate only where the owner has admitted its identity at this depth or a
 *       shallower one, in this generation, or where it stands twice on one page.
 *   I2  What is kept goes over as it came, byte for byte: the owner decides on the same string.
 *   I3  Everything dropped is counted and told to the owner with the page.
 *
 * The owner turns the edge off (CREW_EDGE_WORD) where rules, hooks or listeners must see every link.
 */
import { createKernel } from "../../kernel/kernel.ts";
import {
  BATCH_INVALID,
  BATCH_OK,
  BATCH_ROW_WORDS,
  BATCH_SCHEME,
  BATCH_TOO_LONG,
  ROW_STATUS_WORD,
} from "../../layout/batch.ts";
import {
  CREW_EDGE_WORD,
  CREW_FILTER_OFFSET,
  CREW_MAX_DEPTH_WORD,
  CREW_POLICY_WORD,
  CREW_SECRET_WORD,
  EDGE_OFF,
} from "../../layout/crew.ts";
import { attachSeenFilter, filterHas, type SeenFilter } from "../../structures/seen-filter.ts";
import { batchAdmit, batchLoad, createUrlBatch } from "../../url/batch.ts";
import type { UrlBatch } from "../../url/batch-area.ts";
import type { NormalPolicy } from "../../url/policy.ts";
import type { CrewHandle } from "../protocol/crew.ts";
import type { PushAnswer } from "./worker-lease.ts";

/** Links that a page has pushed so far. */
export interface Page {
  readonly links: string[];
  /** Duplicates, then refusals by reason, as in the message. */
  readonly dropped: number[];
  /** Names the page in the table of its own links. */
  readonly serial: number;
  readonly depth: number;
}

export interface Edge {
  readonly crew: Int32Array;
  readonly policy: NormalPolicy;
  readonly policySerial: number;
  readonly batch: UrlBatch;
  readonly filter: SeenFilter;
  /** OWN_ENTRIES of low word, high word, depth + 1. */
  readonly own: Int32Array;
  /** OWN_ENTRIES of low word, high word, serial of the page. */
  readonly page: Int32Array;
  generation: number;
}

/** 48 KiB: stays in the first levels of the cache. */
const OWN_ENTRIES = 4096;
const OWN_WORDS = 3;

/** The owner must see it; else the index of the count that it is dropped under. */
const KEPT = -1;
const DUPLICATE = 0;
const REFUSED_INVALID = 1;
const REFUSED_SCHEME = 2;
const REFUSED_TOO_LONG = 3;
const REFUSED_TOO_DEEP = 4;

/** The edge of this thread; undefined where the owner alone decides. */
export function createEdge(handle: CrewHandle, crew: Int32Array): Edge | undefined {
  const { policy, policySerial, maxUrlBytes, kernel: module, memory } = handle;
  if (policy === undefined) return undefined;
  const kernel = createKernel(module as WebAssembly.Module);
  const batch = createUrlBatch(kernel, { maxUrlBytes });
  return {
    crew,
    policy,
    policySerial,
    batch,
    filter: attachSeenFilter({ buffer: memory, offset: CREW_FILTER_OFFSET }),
    own: new Int32Array(OWN_ENTRIES * OWN_WORDS),
    page: new Int32Array(OWN_ENTRIES * OWN_WORDS),
    generation: EDGE_OFF,
  };
}

/** Adds to a page what the owner must see of `links`; an answer for each. Returns how many were dropped. @hot */
export function siftLinks(
  edge: Edge | undefined,
  links: readonly string[],
  page: Page,
  answers: PushAnswer[],
): number {
  if (edge === undefined || !isOn(edge)) {
    for (let at = 0; at < links.length; at++) {
      page.links.push(links[at] as string);
      answers.push("queued");
    }
    return 0;
  }
  const { dropped } = page;
  if (page.depth > (edge.crew[CREW_MAX_DEPTH_WORD] as number) >>> 0) {
    dropped[REFUSED_TOO_DEEP] = (dropped[REFUSED_TOO_DEEP] as number) + links.length;
    for (let at = 0; at < links.length; at++) answers.push("rejected");
    return links.length;
  }
  const kept = page.links.length;
  for (let start = 0; start < links.length; ) {
    const count = batchLoad(edge.batch, links, start);
    batchAdmit(edge.batch, edge.policy, 0);
    siftRows(edge, links, start, page, answers);
    start += count;
  }
  return links.length - (page.links.length - kept);
}

/** @hot */
function siftRows(
  edge: Edge,
  links: readonly string[],
  start: number,
  page: Page,
  answers: PushAnswer[],
): void {
  const { area, count } = edge.batch;
  const { u32 } = area.kernel.region.views;
  const { dropped } = page;
  let hash = area.hashes >>> 2;
  let status = (area.rows >>> 2) + ROW_STATUS_WORD;
  for (let row = 0; row < count; row++, hash += 2, status += BATCH_ROW_WORDS) {
    const reason =
      u32[status] !== BATCH_OK
        ? reasonOf(u32[status] as number)
        : isKnown(edge, u32[hash] as number, u32[hash + 1] as number, page)
          ? DUPLICATE
          : KEPT;
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
function isKnown(edge: Edge, lo: number, hi: number, page: Page): boolean {
  const { own, page: table } = edge;
  const at = (hi & (OWN_ENTRIES - 1)) * OWN_WORDS;
  const depth = page.depth + 1;
  const isOwn = own[at] === (lo | 0) && own[at + 1] === (hi | 0);
  if (isOwn && (own[at + 2] as number) <= depth) return true;
  if (filterHas(edge.filter, lo, hi, page.depth)) {
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

/** Whether this thread may decide now; takes over a new secret and forgets what was known under the old one. */
function isOn(edge: Edge): boolean {
  const generation = Atomics.load(edge.crew, CREW_EDGE_WORD); // pairs with the owner's store
  if (generation === EDGE_OFF || (generation & 1) === 1) return false;
  if (Atomics.load(edge.crew, CREW_POLICY_WORD) !== edge.policySerial) return false;
  if (generation === edge.generation) return true;
  const { u32 } = edge.batch.area.kernel.region.views;
  for (let word = 0; word < 4; word++) {
    u32[(edge.batch.area.secret >>> 2) + word] = Atomics.load(edge.crew, CREW_SECRET_WORD + word);
  }
  if (Atomics.load(edge.crew, CREW_EDGE_WORD) !== generation) return false;
  edge.own.fill(0);
  edge.page.fill(0);
  edge.generation = generation;
  return true;
}

function reasonOf(status: number): number {
  if (status === BATCH_INVALID) return REFUSED_INVALID;
  if (status === BATCH_SCHEME) return REFUSED_SCHEME;
  // What is of another kind, the owner may know more of.
  return status === BATCH_TOO_LONG ? REFUSED_TOO_LONG : KEPT;
}
