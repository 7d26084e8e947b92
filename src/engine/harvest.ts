/**
 * Harvest: what many workers' results say in one call. Each is a lease that is done and the links it found, as bytes in the
 * message that brought them (layout/message.ts); no link becomes a string, and the kernel is crossed once for all of them.
 *
 *   messages ─▶ live? ─▶ fingerprints of pages with links, in one gather ─▶ done, each ─▶ links by depth ─▶ rows ─▶ admitted
 *
 *   I1  One call is one entry of the journal: all of its leases are done with their children, or none is.
 *   I2  Until the first lease ends nothing has changed: what can fail for want of disk or memory has been asked for.
 *   I3  A link is admitted as `done({ found })` of its lease alone would have.
 */
import { memoryFull } from "../base/errors.ts";
import type { Core } from "../frontier/core.ts";
import { ruleOf } from "../frontier/core.ts";
import { endMany } from "../frontier/bulk.ts";
import { isLive } from "../frontier/leases.ts";
import { VERDICT_NO_FOLLOW } from "../frontier/verdict.ts";
import {
  parentCreate,
  parentPrintOffset,
  parentRelease,
  parentReserve,
  recordBlob,
  recordDepth,
} from "../structures/record.ts";
import { setWordAt } from "../structures/store.ts";
import { batchKey, batchParse } from "../url/batch.ts";
import type { UrlBatch } from "../url/batch-area.ts";
import { batchAppend, batchGathered, batchOpen, type UrlBytes } from "../url/batch-bytes.ts";
import { isScriptKey } from "../url/policy.ts";
import { BATCH_OK, rowKeyLength, rowKeyOffset, rowStatus, type Rows } from "../url/rows.ts";
import {
  foundAreUtf8,
  foundCount,
  foundLengthsAt,
  foundTextAt,
  foundTextBytes,
} from "../workers/protocol/result-message.ts";
import type { Gate } from "./gate.ts";
import { isByRows, pushLoaded, refuse } from "./intake.ts";
import type { RecordLease } from "./lease.ts";
import type { Life } from "./life.ts";

/** Results that came together: a lease, and the message that says how it was done, of each. */
export interface Sheaf {
  readonly leases: RecordLease[];
  readonly messages: Buffer[];
  readonly starts: number[];
}

/** Room that a result, and a link, want in the journal. */
const RESULT_BYTES = 512;
const LINK_BYTES = 256;
const NOTHING = Buffer.alloc(0);

/** A page of the sheaf whose links are wanted. */
interface Page {
  readonly at: number;
  readonly depth: number;
  readonly parent: number;
}

/** Whether results may be applied so: what else decides about links is asked about each page's by itself. */
export function canHarvest(life: Life): boolean {
  return !life.isClosed && isByRows(life.gate);
}

/** Applies all results; `true` at the index of each that came too late. Throws DISK_FULL and MEMORY_FULL before it begins. */
export function harvest(life: Life, sheaf: Sheaf): boolean[] {
  const { core, nowMs } = life.begin();
  const late: boolean[] = [];
  if (core === undefined) return sheaf.leases.map(() => true);
  life.durable?.need(roomFor(sheaf));
  for (const lease of sheaf.leases) late.push(!isLive(core, lease, nowMs));
  const { gate } = life;
  const pages = pagesOf(core, gate, sheaf, late);
  gate.isBusy = true;
  try {
    endMany(core, sheaf.leases, late, nowMs);
    admitAll(gate, sheaf, pages, nowMs);
  } finally {
    gate.isBusy = false;
    for (const { parent } of pages) parentRelease(core.store, parent);
  }
  life.end(nowMs);
  return late;
}

function roomFor({ leases, messages, starts }: Sheaf): number {
  let bytes = RESULT_BYTES * (leases.length + 1);
  for (let at = 0; at < leases.length; at++) {
    const message = messages[at] as Buffer;
    const start = starts[at] as number;
    bytes += foundTextBytes(message, start) + LINK_BYTES * foundCount(message, start);
  }
  return bytes;
}

/** Pages whose links go in, their parents made; those that nobody follows are refused here. */
function pagesOf(core: Core, gate: Gate, sheaf: Sheaf, late: readonly boolean[]): Page[] {
  const wanted: number[] = [];
  for (let at = 0; at < sheaf.leases.length; at++) {
    if (late[at] === true) continue;
    const count = foundCount(sheaf.messages[at] as Buffer, sheaf.starts[at] as number);
    if (count === 0) continue;
    const { record } = sheaf.leases[at] as RecordLease;
    if (ruleOf(core, record).policy.follow) wanted.push(at);
    else refuse(gate, VERDICT_NO_FOLLOW, count);
  }
  const parents = parentsOf(
    core,
    gate,
    wanted.map((at) => sheaf.leases[at] as RecordLease),
  );
  return wanted.map((at, index) => {
    const { record } = sheaf.leases[at] as RecordLease;
    const depth = recordDepth(core.store, record) + 1;
    return { at, depth, parent: parents[index] as number };
  });
}

/** A parent for each page, its fingerprint made from the bytes of its record; throws when memory is exhausted. */
function parentsOf(core: Core, gate: Gate, leases: readonly RecordLease[]): number[] {
  const parents: number[] = [];
  const { batch } = gate;
  for (let start = 0; start < leases.length; start += batch.area.capacity) {
    const some = leases.slice(start, start + batch.area.capacity);
    const keyed = keyPages(core, batch, some);
    for (let row = 0; row < some.length; row++) {
      const parent = row < keyed ? printRow(core, gate.rows, row) : 0;
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
  let count = 0;
  for (const { record, key: own } of leases) {
    // What is more than a URL has more than a URL's fingerprint.
    if (own !== key || recordBlob(store, record) !== 0) break;
    setWordAt(store, (scratch.handles >> 2) + count, record);
    count++;
  }
  const { area } = batch;
  const { exports } = area.kernel;
  batchOpen(batch, false);
  const made = exports.gatherUrls(scratch.handles, count, area.input, area.inputBytes, area.ends);
  batchGathered(batch, made);
  batchParse(batch);
  batchKey(batch, key);
  return made;
}

/** The parent of the page in a row; 0: its fingerprint is made by other means. */
function printRow(core: Core, rows: Rows, row: number): number {
  if (rowStatus(rows, row) !== BATCH_OK) return 0;
  const parent = parentReserve(core.store);
  if (parent === 0) return 0;
  const { exports } = rows.kernel;
  exports.fingerprint128(
    rowKeyOffset(rows, row),
    rowKeyLength(rows, row),
    parentPrintOffset(parent),
  );
  return parent;
}

/** Links of all pages, as many in one batch as have one depth and one alphabet. */
function admitAll(gate: Gate, sheaf: Sheaf, pages: readonly Page[], nowMs: number): void {
  const { batch, core } = gate;
  const codes = new Uint8Array(batch.area.capacity);
  const parents = core.scratch.parents >> 2;
  const from: UrlBytes = { bytes: NOTHING, lengthsAt: 0, textAt: 0 };
  let last: Page | undefined;
  let isUtf8 = false;
  const send = (): void => {
    if (last === undefined || batch.count === 0) return;
    pushLoaded(gate, { nowMs, depth: last.depth, parent: last.parent, codes });
  };
  for (const page of pages) {
    const message = sheaf.messages[page.at] as Buffer;
    const start = sheaf.starts[page.at] as number;
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
