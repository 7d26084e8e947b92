/**
 * Room `src/integrations/redis/requests`: what becomes of requests before they are sent: rules, keys, partitions, bytes of records.
 * Decides what never reaches the server. May touch url, kernel, frontier and engine/intake.
 */

/**
 * RequestReader: what becomes of requests before they are sent: parsed, matched to a rule, keyed and fingerprinted in this process's
 * kernel. What is refused here never reaches the server.
 *
 *   requests ─▶ load ─▶ parse ─▶ rule, scope ─▶ key ─▶ fingerprint ─▶ rows
 */
import type { PlainRequest } from "../../../base/request-types.ts";
import { isHookFault } from "../../../base/errors.ts";
import { loadKernelModule } from "../../../engine/kernel-file.ts";
import { addExtras } from "../../../engine/intake/request-extras.ts";
import { admissionOf } from "../../../engine/intake/split-request.ts";
import type { RequestInput } from "../../../engine/types/frontier-types.ts";
import { refusalOf } from "../../../frontier/admission/admission-input.ts";
import {
  VERDICT_FULL,
  VERDICT_NO_RULE,
  VERDICT_TOO_DEEP,
  VERDICT_TOO_LONG,
  VERDICT_UNSERIALIZABLE,
} from "../../../frontier/admission/verdicts.ts";
import { effectivePriority } from "../../../frontier/core.ts";
import { epochNameOf, FOREVER, UNDATED_MS } from "../../../frontier/epochs/epoch-policy.ts";
import type { RuleSpec } from "../../../frontier/rules/rule-specs.ts";
import { createKernel, type Kernel, kernelTake } from "../../../kernel/kernel.ts";
import {
  NO_TARGET,
  createUrlBatch,
  batchForget,
  batchLoad,
  batchParse,
} from "../../../url/batch/url-batch.ts";
import { batchSettle } from "../../../url/batch/key-and-hash.ts";
import type { UrlBatch } from "../../../url/batch/batch-memory.ts";
import {
  BATCH_NO_RULE,
  BATCH_OK,
  type Rows,
  rowHostText,
  rowKeyText,
  rowKeyLength,
  rowKeyOffset,
  rowStatus,
  rowVisitLength,
  rowVisitOffset,
  rowVisitText,
  setRowStatus,
} from "../../../url/batch/row-fields.ts";
import { createPrinter, type Printer, printRowKey } from "../../../url/keys/fingerprint-printer.ts";
import { identityBytes, isExempt, isKeyOnly } from "../../../url/keys/identity-bytes.ts";
import type { NormalPolicy } from "../../../url/keys/key-policy.ts";
import { createHostMemo, type HostMemo } from "../../../url/matching/host-memo.ts";
import {
  createMatcher,
  type Matcher,
  matchRow,
  NO_RULE,
} from "../../../url/matching/rule-matcher.ts";
import { registrableDomain } from "../../../url/parsing/registrable-domain.ts";
import { NO_RULE_NUMBER, numberOf, type RuleSet } from "./rule-set.ts";
import {
  hostInUrl,
  newSlab,
  PRINT_BYTES,
  type RecordFields,
  requestOf,
  writeRecord,
} from "./record-bytes.ts";
import type { Piece } from "../server/packing.ts";

/** One request that may be sent. */
export interface Row {
  readonly partition: number;
  /** The host whose queue it joins. */
  readonly unit: string;
  readonly rule: number;
  readonly priority: number;
  readonly isStart: boolean;
  readonly depth: number;
  /** Holds its record, which begins and ends there; the 16 bytes before it are its fingerprint. */
  readonly bytes: Buffer;
  readonly at: number;
  readonly end: number;
  /** undefined: now. */
  readonly dueMs: number | undefined;
  readonly dedup: "check" | "record" | "skip" | "put" | "visited" | "again";
  /** "": forever. */
  readonly epoch: string;
  /** Its request named its epoch. */
  readonly isOnce: boolean;
  /** The registrable domain of its host, where its rule bounds the share of new hosts of one. */
  readonly domain: string | undefined;
}

/** Where requests come from. */
export interface Origin {
  readonly nowMs: number;
  /** Depth that the frontier sets; undefined: the request's own. */
  readonly depth: number | undefined;
  readonly parent: Buffer | undefined;
  /** Redirects before it. */
  readonly redirects?: number | undefined;
  /** It is put in place of what is known, to be visited or as finished; or it is seeded again. */
  readonly put?: "put" | "visited" | "again";
  /** It was admitted before: the rule that keeps it, where one does. */
  readonly record?: { readonly rule: RuleSpec | undefined };
}

/** A request's identity, and where it belongs. */
export interface Located {
  readonly status: number;
  readonly url: string;
  readonly canonical: string;
  readonly host: string;
  /** The host whose clocks hold it. */
  readonly unit: string;
  readonly partition: number;
  readonly spec: RuleSpec | undefined;
  readonly rule: number;
  readonly fingerprint: Buffer;
  readonly epoch: string;
  readonly hasIdentity: boolean;
}

/** Where the URLs of a host go. */
interface HostHome {
  readonly domain: string;
  readonly partition: number;
}

const HOSTS_MAX = 65_536;
/** Depths that a record can keep, and the length of a host that stands in it beside its URL. */
const DEPTH_MAX = 65_535;
const OWN_HOST_MAX = 65_535;

export const recordOf = ({ bytes, at, end }: Row): Buffer => bytes.subarray(at, end);
export const printOf = ({ bytes, at }: Row): Buffer => bytes.subarray(at - PRINT_BYTES, at);

export class RequestReader {
  readonly #kernel: Kernel;
  readonly #batch: UrlBatch;
  readonly #rows: Rows;
  readonly #print: Printer;
  readonly #page: number;
  readonly #memo: HostMemo;
  readonly #partitions: number;
  readonly #isByQueue: boolean;
  readonly #homes = new Map<string, HostHome>();
  readonly #slab = newSlab();
  #set!: RuleSet;
  #matcher!: Matcher;

  /** `isByQueue`: a URL under a host key that is not its own host is another one. */
  constructor(set: RuleSet, partitions: number, maxUrlBytes: number, isByQueue = false) {
    this.#kernel = createKernel(loadKernelModule());
    this.#batch = createUrlBatch(this.#kernel, { maxUrlBytes });
    this.#rows = { kernel: this.#kernel, offset: this.#batch.area.header };
    this.#print = createPrinter(this.#kernel);
    this.#page = kernelTake(this.#kernel, 1);
    this.#memo = createHostMemo(this.#kernel);
    this.#partitions = partitions;
    this.#isByQueue = isByQueue;
    this.use(set);
  }

  get set(): RuleSet {
    return this.#set;
  }

  /** Follows another set of rules from now on. */
  use(set: RuleSet): void {
    this.#set = set;
    this.#matcher = createMatcher(set.list.specs, this.#memo);
  }

  /** A row for each request, or the code of its refusal. */
  read(list: readonly PlainRequest[], origin: Origin): Array<Row | number> {
    const made: Array<Row | number> = [];
    const urls = list.map((one) => (typeof one === "string" ? one : one.url));
    for (let start = 0; start < list.length; ) {
      const count = this.#load(urls, start, true, origin.record?.rule);
      for (let row = 0; row < count; row++) {
        made.push(this.#rowOf(row, list[start + row] as PlainRequest, origin));
      }
      start += count;
    }
    batchForget(this.#batch);
    return made;
  }

  /** What a record becomes under the current rules; undefined: none takes it. Its identity, depth and parent stay. */
  readAgain(record: RecordFields, nowMs: number): Row | undefined {
    const { depth, parent, extras, bytes } = record;
    const id = this.#set.ids[record.rule];
    const rule = this.#set.list.specs.find((spec) => spec.id === id);
    const origin = { nowMs, depth, parent, redirects: extras.r, record: { rule } };
    const [row] = this.read([requestOf(record)], origin);
    if (row === undefined || typeof row === "number") return undefined;
    // The identity is found by the beginning of its fingerprint.
    bytes.copy(row.bytes, row.at + 8, 8, 14);
    return row;
  }

  /** Where one request belongs. */
  locate(request: PlainRequest, nowMs: number): Located {
    const input: RequestInput = typeof request === "string" ? { url: request } : request;
    this.#load([input.url], 0, false);
    const status = rowStatus(this.#rows, 0);
    const spec = this.#specs[0];
    const isRead = status === BATCH_OK;
    const host = isRead ? rowHostText(this.#rows, 0) : "";
    const policy = spec?.key ?? this.#set.key;
    const rule = spec === undefined ? NO_RULE_NUMBER : this.#numberOf(spec);
    const isExemptOne = isExempt(input.method, policy) || input.dedup === "skip";
    return {
      status,
      url: isRead ? rowVisitText(this.#rows, 0) : input.url,
      canonical: status === BATCH_OK ? rowKeyText(this.#rows, 0) : "",
      host,
      unit: spec === undefined ? host : this.#hostOf(spec, { input, host }),
      partition: this.partitionOf(input.hostKey, host),
      spec,
      rule,
      fingerprint: isRead ? this.#fingerprintOf(0, input, policy) : Buffer.alloc(PRINT_BYTES),
      epoch: spec === undefined ? "" : this.#epochOf(spec, input, nowMs),
      hasIdentity: status === BATCH_OK && !isExemptOne,
    };
  }

  /** The partition of a host key, or of the registrable domain of a host. */
  partitionOf(hostKey: string | undefined, host: string): number {
    return hostKey === undefined ? this.#homeOf(host).partition : this.#partitionAt(hostKey);
  }

  #partitionAt(name: string): number {
    let hash = 0x811c9dc5;
    for (let at = 0; at < name.length; at++)
      hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    return ((hash ^ (hash >>> 12)) >>> 0) % this.#partitions;
  }

  #homeOf(host: string): HostHome {
    let home = this.#homes.get(host);
    if (home === undefined) {
      const domain = registrableDomain(host).toLowerCase();
      home = { domain, partition: this.#partitionAt(domain) };
      if (this.#homes.size >= HOSTS_MAX) this.#homes.clear();
      this.#homes.set(host, home);
    }
    return home;
  }

  #specs: Array<RuleSpec | undefined> = [];

  /** Loads, parses, matches and keys as many as fit; how many. */
  #load(urls: readonly string[], start: number, isScoped: boolean, kept?: RuleSpec): number {
    const batch = this.#batch;
    const rows = this.#rows;
    const count = batchLoad(batch, urls, start);
    const parsed = batchParse(batch);
    const { list, key } = this.#set;
    const { all } = this.#matcher;
    for (let row = 0; row < count; row++) {
      this.#specs[row] = undefined;
      if (rowStatus(rows, row) !== BATCH_OK) continue;
      if (kept !== undefined) {
        this.#specs[row] = kept;
        continue;
      }
      const order = all === NO_RULE ? matchRow(this.#matcher, rows, row) : all;
      if (order !== NO_RULE) this.#specs[row] = list.specs[order];
      else if (isScoped) setRowStatus(rows, row, BATCH_NO_RULE);
    }
    const sole = list.specs.every((spec) => spec.key === list.specs[0]?.key)
      ? (list.specs[0]?.key ?? key)
      : undefined;
    batchSettle(parsed, sole, (row) => this.#specs[row]?.key ?? key, NO_TARGET);
    return count;
  }

  #numberOf(spec: RuleSpec): number {
    return numberOf(this.#set, spec);
  }

  #rowOf(row: number, request: PlainRequest, origin: Origin): Row | number {
    const rows = this.#rows;
    const status = rowStatus(rows, row);
    const spec = this.#specs[row];
    if (status === BATCH_NO_RULE) return VERDICT_NO_RULE;
    if (status !== BATCH_OK || spec === undefined) return refusalOf(status);
    const { policy, key } = spec;
    const isBare = typeof request === "string";
    const input: RequestInput = isBare ? { url: request } : request;
    const admission = isBare ? undefined : admissionOf(input, key, origin.depth);
    const depth = admission?.depth ?? origin.depth ?? 0;
    if (admission?.verdict === VERDICT_UNSERIALIZABLE || admission?.volatileData !== undefined) {
      return VERDICT_UNSERIALIZABLE;
    }
    if (depth > policy.maxDepth && origin.record === undefined) return VERDICT_TOO_DEEP;
    const host = rowHostText(rows, row);
    const rule = this.#numberOf(spec);
    const unit = this.#hostOf(spec, { input, host });
    const isOnce = input.epoch !== undefined;
    const isCanonical = key.visit === "canonical";
    const url = isCanonical ? rowKeyOffset(rows, row) : rowVisitOffset(rows, row);
    const urlBytes = isCanonical ? rowKeyLength(rows, row) : rowVisitLength(rows, row);
    const priority = effectivePriority(policy, input.priority, depth);
    this.#printTo(row, input, key);
    const dueMs =
      admission === undefined || admission.dueMs === UNDATED_MS ? undefined : admission.dueMs;
    const isStart = policy.startLast && admission?.isStart === true;
    let extras = admission?.blob;
    if (origin.redirects !== undefined) extras = addExtras(extras, { r: origin.redirects });
    if (input.epoch !== undefined) extras = addExtras(extras, { e: input.epoch });
    const { u8 } = this.#kernel.region.views;
    const { parent } = origin;
    const maxAttempts = admission?.maxAttempts ?? 0;
    const isShown = showsHost(hostInUrl(u8, url, url + urlBytes), unit);
    if (!isShown && unit.length > OWN_HOST_MAX) return VERDICT_TOO_LONG;
    // Not spread, here and below: a spread took ten times as long as all the rest.
    const at = writeRecord(this.#slab, u8, {
      rule,
      depth,
      priority,
      isStart,
      parent,
      extras,
      maxAttempts,
      isOnce,
      host: isShown ? undefined : unit,
      print: this.#page,
      url,
      urlBytes,
    });
    return {
      partition: this.partitionOf(input.hostKey, host),
      unit,
      rule,
      priority,
      isStart,
      depth: Math.min(depth, DEPTH_MAX),
      bytes: this.#slab.bytes,
      at,
      end: this.#slab.end,
      dueMs,
      dedup:
        origin.put ??
        (admission?.dedup as Row["dedup"] | undefined) ??
        (isExempt(undefined, key) ? "skip" : "check"),
      epoch: this.#epochOf(spec, input, origin.nowMs),
      isOnce,
      domain: policy.isPolite && policy.freshGap > 0 ? this.#homeOf(unit).domain : undefined,
    };
  }

  #hostOf({ policy }: RuleSpec, { input, host }: { input: RequestInput; host: string }): string {
    if (input.hostKey !== undefined) return input.hostKey;
    return policy.by === "domain" ? this.#homeOf(host).domain : host;
  }

  #epochOf({ policy }: RuleSpec, input: RequestInput, nowMs: number): string {
    if (input.epoch !== undefined) return input.epoch === FOREVER ? "" : input.epoch;
    const name = epochNameOf(policy.epoch, Number(input.notBefore ?? UNDATED_MS), nowMs);
    return isHookFault(name) || name === FOREVER ? "" : name;
  }

  /** Writes the fingerprint to the kernel's page. */
  #printTo(row: number, input: RequestInput, policy: NormalPolicy): void {
    const { hostKey } = input;
    const isOther = this.#isByQueue && hostKey !== undefined;
    const queue = isOther && hostKey !== rowHostText(this.#rows, row) ? hostKey : undefined;
    if (queue === undefined && input.key === undefined && isKeyOnly(input, policy)) {
      printRowKey(this.#rows, row, this.#page);
      return;
    }
    const own = queue === undefined ? input.key?.toWellFormed() : undefined;
    const key = own ?? rowKeyText(this.#rows, row);
    const text = queue === undefined ? key : `${queue.toWellFormed()}\n${key}`;
    const print = Buffer.from(this.#print(identityBytes(text, input, policy)), "hex");
    this.#kernel.region.views.u8.set(print, this.#page);
  }

  #fingerprintOf(row: number, input: RequestInput, policy: NormalPolicy): Buffer {
    this.#printTo(row, input, policy);
    const { u8 } = this.#kernel.region.views;
    return Buffer.from(u8.subarray(this.#page, this.#page + PRINT_BYTES));
  }
}

/** Whether the server finds the host in the URL by itself. */
function showsHost({ bytes, at, end }: Piece, host: string): boolean {
  if (end - at !== host.length) return false;
  for (let each = 0; each < host.length; each++)
    if (bytes[at + each] !== host.charCodeAt(each)) return false;
  return true;
}

/** Verdicts after which the same request may be admitted later. */
export function isFull(code: number): boolean {
  return code === VERDICT_FULL || code === VERDICT_FULL + 1;
}
