/**
 * Applies the results of many workers in one call. Each is a lease that is done and the links it found, as bytes in the
 * message that brought them (layout/threads/worker-messages.ts); no link becomes a string, and the kernel is crossed once for all of them.
 *
 *   messages ─▶ live? ─▶ fingerprints of pages with links, in one gather ─▶ done, each ─▶ links by depth ─▶ rows ─▶ admitted
 *
 *   I1  One call is one entry of the journal: all of its leases are done with their children, or none is.
 *   I2  Until the first lease ends nothing has changed: what can fail for want of disk or memory has been asked for.
 *   I3  A link is admitted as `done({ found })` of its lease alone would have.
 */
import { memoryFull } from "../../base/errors.ts";
import { type Core, ruleOf } from "../../frontier/core.ts";
import { endMany } from "../../frontier/leases/bulk-leases.ts";
import { isLive } from "../../frontier/leases/leases.ts";
import { MODE_SHOWN } from "../../frontier/admission/admission-mode.ts";
import { VERDICT_NO_FOLLOW } from "../../frontier/admission/verdicts.ts";
import {
  parentCreate,
  parentPrintOffset,
  parentRelease,
  parentReserve,
  recordBlob,
  recordDepth,
} from "../../structures/records/record.ts";
import { writeRecords } from "../../structures/records/kernel-scratch.ts";
import { setWordAt } from "../../structures/store.ts";
import { batchKey, batchParse } from "../../url/batch/url-batch.ts";
import type { UrlBatch } from "../../url/batch/batch-memory.ts";
import {
  batchAppend,
  batchGather,
  batchOpen,
  type UrlBytes,
} from "../../url/batch/append-bytes.ts";
import { printRowKey } from "../../url/keys/fingerprint-printer.ts";
import { isScriptKey } from "../../url/keys/key-policy.ts";
import { BATCH_OK, rowStatus, type Rows } from "../../url/batch/row-fields.ts";
import {
  foundAreUtf8,
  foundCount,
  foundLengthsAt,
  foundTextAt,
  foundTextBytes,
} from "../../workers/protocol/result-message.ts";
import { type IntakeContext, modeOf } from "../intake/intake-context.ts";
import { pushLoaded, refuse } from "../intake/push-requests.ts";
import type { RecordLease } from "../leases/record-lease.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";

/** Results that came together: a lease, and the message of how it was done, of each. */
export interface ResultBatch {
  readonly leases: RecordLease[];
  readonly messages: Buffer[];
  readonly starts: number[];
}

/** Room that a result, and a link, want in the journal. */
const RESULT_BYTES = 512;
const LINK_BYTES = 256;
const NOTHING = Buffer.alloc(0);

/** A page of the batch whose links are wanted. */
interface Page {
  readonly at: number;
  readonly depth: number;
  readonly parent: number;
}

/** Whether results may be applied so: what else decides about links is asked about each page's by itself. */
export function canApplyResults(lifecycle: Lifecycle): boolean {
  return !lifecycle.isClosed && (modeOf(lifecycle.intake) & MODE_SHOWN) === 0;
}

/** Applies all results; `true` at the index of each that came too late. Throws DISK_FULL and MEMORY_FULL before it begins. */
export function applyResults(lifecycle: Lifecycle, resultBatch: ResultBatch): boolean[] {
  const { core, nowMs } = lifecycle.begin();
  const late: boolean[] = [];
  if (core === undefined) return resultBatch.leases.map(() => true);
  lifecycle.durable?.need(roomFor(resultBatch));
  for (const lease of resultBatch.leases) late.push(!isLive(core, lease, nowMs));
  const { intake } = lifecycle;
  const { pages, unfollowed } = pagesOf(core, intake, resultBatch, late);
  intake.isBusy = true;
  try {
    endMany(core, resultBatch.leases, late, nowMs);
    refuse(intake, VERDICT_NO_FOLLOW, unfollowed);
    admitAll(intake, resultBatch, pages, nowMs);
  } finally {
    intake.isBusy = false;
    for (const { at, parent } of pages) {
      intake.failures.notePage(core, parent, (resultBatch.leases[at] as RecordLease).url);
      parentRelease(core.store, parent);
    }
  }
  lifecycle.end(nowMs);
  return late;
}

function roomFor({ leases, messages, starts }: ResultBatch): number {
  let bytes = RESULT_BYTES * (leases.length + 1);
  for (let at = 0; at < leases.length; at++) {
    const message = messages[at] as Buffer;
    const start = starts[at] as number;
    bytes += foundTextBytes(message, start) + LINK_BYTES * foundCount(message, start);
  }
  return bytes;
}

/** Pages whose links go in, their parents made, and the number of links that are refused because their rule follows none. */
function pagesOf(
  core: Core,
  intake: IntakeContext,
  resultBatch: ResultBatch,
  late: readonly boolean[],
): { pages: Page[]; unfollowed: number } {
  const wanted: number[] = [];
  let unfollowed = 0;
  for (let at = 0; at < resultBatch.leases.length; at++) {
    if (late[at] === true) continue;
    const count = foundCount(resultBatch.messages[at] as Buffer, resultBatch.starts[at] as number);
    if (count === 0) continue;
    const { record } = resultBatch.leases[at] as RecordLease;
    if (ruleOf(core, record).policy.follow) wanted.push(at);
    else unfollowed += count;
  }
  const parents = parentsOf(
    core,
    intake,
    wanted.map((at) => resultBatch.leases[at] as RecordLease),
  );
  const pages = wanted.map((at, index) => {
    const { record } = resultBatch.leases[at] as RecordLease;
    const depth = recordDepth(core.store, record) + 1;
    return { at, depth, parent: parents[index] as number };
  });
  return { pages, unfollowed };
}

/** A parent for each page, its fingerprint made from the bytes of its record; throws when memory is exhausted. */
function parentsOf(core: Core, intake: IntakeContext, leases: readonly RecordLease[]): number[] {
  const parents: number[] = [];
  const { batch } = intake;
  for (let start = 0; start < leases.length; start += batch.area.capacity) {
    const some = leases.slice(start, start + batch.area.capacity);
    const keyed = keyPages(core, batch, some);
    for (let row = 0; row < some.length; row++) {
      const parent = row < keyed ? printRow(core, intake.rows, row) : 0;
      parents.push(parent === 0 ? parentCreate(core.store, some[row]?.fingerprint ?? "") : parent);
    }
  }
  if (parents.includes(0)) {
    for (const parent of parents) if (parent !== 0) parentRelease(core.store, parent);
    throw memoryFull();
  }
  return parents;
}

/** Puts the URLs of pages into the batch and makes their keys; how many, from the first on, are there. */
function keyPages(core: Core, batch: UrlBatch, leases: readonly RecordLease[]): number {
  const { scratch, store } = core;
  const key = leases[0]?.key;
  if (key === undefined || isScriptKey(key)) return 0;
  // What is more than a URL has more than a URL's fingerprint.
  const other = leases.findIndex(
    (lease) => lease.key !== key || recordBlob(store, lease.record) !== 0,
  );
  const count = other < 0 ? leases.length : other;
  writeRecords(scratch, scratch.gathered, leases, 0, count);
  const made = batchGather(batch, scratch.gathered, count);
  batchKey(batchParse(batch), key);
  return made;
}

/** The parent of the page in a row; 0: its fingerprint is made by other means. */
function printRow(core: Core, rows: Rows, row: number): number {
  if (rowStatus(rows, row) !== BATCH_OK) return 0;
  const parent = parentReserve(core.store);
  if (parent === 0) return 0;
  printRowKey(rows, row, parentPrintOffset(parent));
  return parent;
}

/** Links of all pages, as many in one batch as have one depth and one alphabet. */
function admitAll(
  intake: IntakeContext,
  resultBatch: ResultBatch,
  pages: readonly Page[],
  nowMs: number,
): void {
  const { batch, core } = intake;
  const codes = new Uint8Array(batch.area.capacity);
  const parents = core.scratch.parents >> 2;
  const from: UrlBytes = { bytes: NOTHING, lengthsAt: 0, textAt: 0 };
  let last: Page | undefined;
  let isUtf8 = false;
  const send = (): void => {
    if (last === undefined || batch.count === 0) return;
    pushLoaded(intake, { nowMs, depth: last.depth, parent: last.parent, codes });
  };
  for (const page of pages) {
    const message = resultBatch.messages[page.at] as Buffer;
    const start = resultBatch.starts[page.at] as number;
    const isWide = foundAreUtf8(message, start);
    if (last === undefined || last.depth !== page.depth || isWide !== isUtf8) {
      send();
      batchOpen(batch, isWide);
    }
    last = page;
    isUtf8 = isWide;
    from.bytes = message;
    from.lengthsAt = foundLengthsAt(start);
    from.textAt = foundTextAt(message, start);
    for (let left = foundCount(message, start); left > 0; ) {
      const row = batch.count;
      const fitted = batchAppend(batch, from, left);
      for (let at = 0; at < fitted; at++) setWordAt(core.store, parents + row + at, page.parent);
      left -= fitted;
      if (left === 0) break;
      send();
      batchOpen(batch, isWide);
    }
  }
  send();
}
