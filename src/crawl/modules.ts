/**
 * The modules of a crawl and their registry. Each kind can be replaced, and there can be several of it: the least loaded
 * one is asked.
 *
 *   lease ─▶ downloader ─▶ analyzer ─▶ pipeline, item by item ─▶ lease.done({ found })
 *
 *   score = called + 2 · accepted + 4 · completed + 16 · handling, the lowest wins, ties by order of registration
 *
 *   counter    steps when
 *   called     the module is chosen          accepted   its argument was right and work began
 *   completed  it answered without a throw   handling   +1 at the beginning, −1 at the end
 */
import { misuse } from "../base/errors.ts";
import type { RequestLike } from "../index.ts";

export interface DownloadRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array;
  readonly maxBytes?: number;
  /** A body that is longer when inflated is cut at `maxBytes`, as one that is sent so: its beginning is enough. */
  readonly mayCut?: boolean;
  readonly signal?: AbortSignal;
  /** Asked when the headers are there; false: the body is not read. */
  readonly accepts?: (status: number, headers: Download["headers"]) => boolean;
}

export interface Download {
  readonly url: string;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Content codings undone. */
  readonly body: Buffer;
  /** Bytes of the body as they came. */
  readonly bytes: number;
  /** The body was longer than is allowed; this is its beginning. */
  readonly isTruncated?: boolean;
  /** The body was not wanted and not read. */
  readonly isSkipped?: boolean;
  /** From the request to its headers. */
  readonly latencyMs: number;
  /** The address that was dialled. */
  readonly address?: string;
}

export interface Downloader {
  download(request: DownloadRequest): Promise<Download>;
  close?(): void | Promise<void>;
}

/** A downloaded page, for analyzers. */
export interface Page {
  readonly url: string;
  readonly depth: number;
  readonly rule: string;
  readonly data: unknown;
  readonly status: number;
  readonly headers: Download["headers"];
  readonly body: Buffer;
  readonly bytes: number;
  readonly isTruncated: boolean;
  /** Lower case, without parameters; empty: not told. */
  readonly contentType: string;
  /** What the built-in analyzer finds; read once, however often it is asked. */
  extract(): Promise<Extract>;
}

/** What markup says about a page. */
export interface Extract {
  readonly title: string;
  /** Characters of text outside of scripts and styles. */
  readonly textLength: number;
  readonly charset: string;
  /** Absolute, each once, in the order of the page; none where the page forbids following. */
  readonly links: string[];
  /** Links that were left since they are longer than a URL may be. */
  readonly tooLong: number;
  /** Links that were left since the page has more than `maxLinks`. */
  readonly tooMany: number;
  readonly canonical?: string;
  readonly isNoIndex: boolean;
  readonly isNoFollow: boolean;
}

export interface Analysis {
  /** Left out: the links that the built-in analyzer finds. */
  readonly found?: Iterable<RequestLike>;
  readonly items?: Iterable<unknown>;
  readonly errors?: Iterable<unknown>;
}

export interface Analyzer {
  // biome-ignore lint/suspicious/noConfusingVoidType: an analyzer may say nothing.
  analyze(page: Page): Analysis | undefined | void | Promise<Analysis | undefined | void>;
  close?(): void | Promise<void>;
}

/** Where an item comes from. */
export interface ItemSource {
  readonly url: string;
  readonly depth: number;
}

export interface Pipeline {
  /** In order; each is given what the one before it answered. undefined: the item as it was; null: dropped. */
  readonly processors: ReadonlyArray<(item: unknown, source: ItemSource) => unknown>;
  /** A processor that throws ends the item's way; else the item goes on as it was. */
  readonly failFast?: boolean;
  close?(): void | Promise<void>;
}

export interface ModuleOf {
  downloader: Downloader;
  analyzer: Analyzer;
  pipeline: Pipeline;
}

export type ModuleKind = keyof ModuleOf;
const MODULE_KINDS: readonly ModuleKind[] = ["downloader", "analyzer", "pipeline"];

export interface ModuleCounts {
  readonly id: string;
  readonly called: number;
  readonly accepted: number;
  readonly completed: number;
  readonly handling: number;
}

/** A module that was chosen, with the counters that its work steps. */
export interface Chosen<K extends ModuleKind> {
  readonly id: string;
  readonly module: ModuleOf[K];
  accepted(): void;
  /** Whether it answered, or threw. */
  ended(isCompleted: boolean): void;
}

export interface ModuleRegistry {
  register<K extends ModuleKind>(kind: K, module: ModuleOf[K], id?: string): string;
  /** False: there was none of this name. */
  unregister(kind: ModuleKind, id: string): boolean;
  choose<K extends ModuleKind>(kind: K): Chosen<K> | undefined;
  /** By kind, sorted by id. */
  counts(): Record<ModuleKind, ModuleCounts[]>;
  /** Told after each registration. */
  onRegister(listener: (kind: ModuleKind) => void): void;
  close(): Promise<void>;
}

interface Entry {
  readonly id: string;
  readonly module: ModuleOf[ModuleKind];
  called: number;
  accepted: number;
  completed: number;
  handling: number;
}

const METHOD: Record<ModuleKind, string> = {
  downloader: "download",
  analyzer: "analyze",
  pipeline: "processors",
};

export function createModuleRegistry(): ModuleRegistry {
  const entries: Record<ModuleKind, Entry[]> = { downloader: [], analyzer: [], pipeline: [] };
  const listeners: Array<(kind: ModuleKind) => void> = [];
  const closed: Entry[] = [];
  let serial = 0;
  return {
    register(kind, module, given) {
      checkModule(kind, module);
      const id = given ?? `${kind}-${++serial}`;
      if (entries[kind].some((each) => each.id === id)) {
        throw misuse("ARGUMENT_INVALID", "id", id, `a name that no other ${kind} has`);
      }
      entries[kind].push({ id, module, called: 0, accepted: 0, completed: 0, handling: 0 });
      for (const listener of listeners) listener(kind);
      return id;
    },
    unregister(kind, id) {
      const at = entries[kind].findIndex((each) => each.id === id);
      if (at < 0) return false;
      closed.push(...entries[kind].splice(at, 1));
      return true;
    },
    choose(kind) {
      const entry = leastLoaded(entries[kind]);
      return entry === undefined ? undefined : chosen(entry);
    },
    counts: () => ({
      downloader: countsOf(entries.downloader),
      analyzer: countsOf(entries.analyzer),
      pipeline: countsOf(entries.pipeline),
    }),
    onRegister: (listener) => void listeners.push(listener),
    async close() {
      const all = [...MODULE_KINDS.flatMap((kind) => entries[kind]), ...closed];
      await Promise.all(all.map(({ module }) => module.close?.()));
    },
  };
}

function chosen<K extends ModuleKind>(entry: Entry): Chosen<K> {
  entry.called++;
  return {
    id: entry.id,
    module: entry.module as ModuleOf[K],
    accepted() {
      entry.accepted++;
      entry.handling++;
    },
    ended(isCompleted) {
      entry.handling--;
      if (isCompleted) entry.completed++;
    },
  };
}

/** A download by the least loaded downloader; rejects as it does, and where there is none. */
export async function downloadBy(
  registry: ModuleRegistry,
  request: DownloadRequest,
): Promise<Download> {
  const chosen = registry.choose("downloader");
  if (chosen === undefined) throw misuse("STATE_INVALID", "downloader", "none", "a registered one");
  let isCompleted = false;
  chosen.accepted();
  try {
    const answer = await chosen.module.download(request);
    isCompleted = true;
    return answer;
  } finally {
    chosen.ended(isCompleted);
  }
}

/** Starts from the first entry, not from a score that could also be real. */
function leastLoaded(entries: readonly Entry[]): Entry | undefined {
  let [best] = entries;
  for (const entry of entries)
    if (best !== undefined && scoreOf(entry) < scoreOf(best)) best = entry;
  return best;
}

function scoreOf({ called, accepted, completed, handling }: Entry): number {
  return called + 2 * accepted + 4 * completed + 16 * handling;
}

function countsOf(entries: readonly Entry[]): ModuleCounts[] {
  return entries
    .map(({ module: _, ...counts }) => counts)
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

function checkModule(kind: ModuleKind, module: unknown): void {
  const method = METHOD[kind];
  if (method === undefined) throw misuse("ARGUMENT_INVALID", "kind", kind, MODULE_KINDS.join(", "));
  const value = (module as Record<string, unknown> | null | undefined)?.[method];
  const isRight =
    kind === "pipeline"
      ? Array.isArray(value) && value.every((each) => typeof each === "function")
      : typeof value === "function";
  if (isRight) return;
  const expected = kind === "pipeline" ? "{ processors: functions }" : `an object with ${method}()`;
  throw misuse("ARGUMENT_INVALID", kind, module, expected);
}
