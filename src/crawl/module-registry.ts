/**
 * The modules of a crawl and their registry. Each kind can be replaced, and can have several modules: the least loaded one is called.
 *
 *   lease ─▶ downloader ─▶ analyzer ─▶ pipeline, item by item ─▶ lease.done({ found })
 *
 *   score = called + 2 · accepted + 4 · completed + 16 · handling, the lowest wins, ties by order of registration
 *
 *   counter    steps when
 *   called     the module is chosen          accepted   its argument was valid and work began
 *   completed  it returned without an error   handling   +1 at the beginning, −1 at the end
 */
import { misuse } from "../base/errors.ts";
import type { RequestLike } from "../index.ts";
import type { RoomShare } from "./http/decoding/inflate-room.ts";
import type { PagePolicy } from "./policy/page-policy.ts";

/** What a downloader is asked for. */
export interface DownloadRequest {
  /** The URL. */
  readonly url: string;
  /** HTTP method; GET unless given. */
  readonly method?: string;
  /** Headers of this request. */
  readonly headers?: Record<string, string>;
  /** Body of the request. */
  readonly body?: Uint8Array;
  /** Longest body in bytes, in place of the downloader's. */
  readonly maxBytes?: number;
  /** Whether a body that inflates beyond `maxBytes` is cut there; otherwise it is refused. */
  readonly mayCut?: boolean;
  /** Aborts the download. */
  readonly signal?: AbortSignal;
  /** Asked when the connection is there, before anything is sent; false: the download is aborted. */
  readonly mayBegin?: () => boolean;
  /** Called with status and headers; false: the body is not read. */
  readonly accepts?: (status: number, headers: Download["headers"]) => boolean;
  /** @internal Held while the body is inflated, and until its visit ends it. */
  readonly room?: RoomShare;
  /** Called with what went over the wire, before content codings are undone. If it rejects, so does the download. */
  readonly onExchange?: (exchange: Exchange) => Promise<void>;
}

/** A request and its response as they went over the wire. */
export interface Exchange {
  /** The URL that was asked for. */
  readonly url: string;
  /** When it was asked for, milliseconds since 1970. */
  readonly atMs: number;
  /** The address that was dialled. */
  readonly address?: string;
  /** HTTP method. */
  readonly method: string;
  /** Headers of the request, in the order in which they were sent. */
  readonly requestHeaders: ReadonlyArray<readonly [name: string, value: string]>;
  /** Body of the request. */
  readonly requestBody?: Uint8Array;
  /** HTTP status. */
  readonly status: number;
  /** The text after the status in the status line; empty on HTTP/2. */
  readonly statusText: string;
  /** Headers of the response in the order and spelling in which they came, each octet a letter (Latin-1). */
  readonly responseHeaders: ReadonlyArray<readonly [name: string, value: string]>;
  /** Body of the response as it was sent: content codings are kept, the transfer coding (chunks) is undone. */
  readonly body: Buffer;
  /** Why `body` is not the whole body: longer than allowed, or not wanted. */
  readonly truncated?: "length" | "unspecified";
  /** Time from the request to the response's headers in milliseconds. */
  readonly latencyMs: number;
}

/** A response. */
export interface Download {
  /** The URL that was asked for. */
  readonly url: string;
  /** HTTP status. */
  readonly status: number;
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body, content codings undone. */
  readonly body: Buffer;
  /** Bytes of the body as they came. */
  readonly bytes: number;
  /** Whether the body was longer than is allowed and this is its beginning. */
  readonly isTruncated?: boolean;
  /** Whether the body was not wanted and not read. */
  readonly isSkipped?: boolean;
  /** Time from the request to its headers in milliseconds. */
  readonly latencyMs: number;
  /** The address that was dialled. */
  readonly address?: string;
}

/** Turns a request into a response. */
export interface Downloader {
  /** Downloads one URL. Rejects with a `DownloadError` if there is no answer. */
  download(request: DownloadRequest): Promise<Download>;
  /** Called once when the crawl ends. */
  close?(): void | Promise<void>;
}

/** A downloaded page, for analyzers. */
export interface Page {
  /** URL of the page. */
  readonly url: string;
  /** Distance from a seed. */
  readonly depth: number;
  /** Id of its rule. */
  readonly rule: string;
  /** The request's data. */
  readonly data: unknown;
  /** HTTP status. */
  readonly status: number;
  /** Headers of the response, names in lower case. */
  readonly headers: Download["headers"];
  /** The body, content codings undone. */
  readonly body: Buffer;
  /** Bytes of the body as they came. */
  readonly bytes: number;
  /** Whether the body was longer than is allowed and this is its beginning. */
  readonly isTruncated: boolean;
  /** Content type in lower case, without parameters; empty: unknown. */
  readonly contentType: string;
  /** Runs the built-in analyzer on the page. Costs one pass over it; the result is kept. */
  extract(): Promise<Extract>;
  /**
   * What robots.txt, headers and markup declare about the use of the page; undefined: nothing. It is kept, and blocks nothing by itself.
   * Costs `extract()` for HTML.
   */
  policy(): Promise<PagePolicy | undefined>;
}

/** What the markup of a page contains. */
export interface Extract {
  /** Text of the title. */
  readonly title: string;
  /** Characters of text outside of scripts and styles. */
  readonly textLength: number;
  /** Encoding that the page was read in. */
  readonly charset: string;
  /** Absolute links, each once, in the order of the page; none where the page forbids following. */
  readonly links: string[];
  /** Links that are longer than a URL may be and were left out. */
  readonly tooLong: number;
  /** Links beyond `maxLinks` that were left out. */
  readonly tooMany: number;
  /** Target of `<link rel=canonical>`. */
  readonly canonical?: string;
  /** Whether the page forbids indexing. */
  readonly isNoIndex: boolean;
  /** Whether the page forbids following its links. */
  readonly isNoFollow: boolean;
  /** Directives of its meta elements to all robots or to us, as they are written; empty: none. */
  readonly metaRobots: string;
}

/** What an analyzer found. `Item` is the type of its items. */
export interface Analysis<Item = unknown> {
  /** Links to follow. Without it, those that the built-in analyzer finds. */
  readonly found?: Iterable<RequestLike>;
  /** Items for the pipelines. Default: none. */
  readonly items?: Iterable<Item>;
  /** What went wrong; each is reported as a fault of the analyzer. */
  readonly errors?: Iterable<unknown>;
}

/** Reads a page: links to follow and items to keep. */
export interface Analyzer<Item = unknown> {
  /** Reads one page. Throwing retries the page by its rule. */
  analyze(
    page: Page,
    // biome-ignore lint/suspicious/noConfusingVoidType: an analyzer may return nothing.
  ): Analysis<Item> | undefined | void | Promise<Analysis<Item> | undefined | void>;
  /** Called once when the crawl ends. */
  close?(): void | Promise<void>;
}

/** The page that an item comes from. */
export interface ItemSource {
  /** URL of the page. */
  readonly url: string;
  /** Its distance from a seed. */
  readonly depth: number;
  /** What the site declares about the use of the page; missing: nothing. */
  readonly policy?: PagePolicy;
}

/** Processes the items of a page, before the page is done. */
export interface Pipeline<Item = unknown> {
  /**
   * Functions in order. Each gets what the one before returned; undefined leaves the item as it was, null drops it.
   */
  readonly processors: ReadonlyArray<(item: Item, source: ItemSource) => unknown>;
  /**
   * Whether a processor that throws refuses the item: the ones after it are not called, and the page is tried again, by its rule. With
   * false, the item continues as it was; it counts only if the last processor takes it.
   * @defaultValue true
   */
  readonly failFast?: boolean;
  /**
   * Called with every exchange, before its page is analyzed. If it throws or rejects, the page is tried again. A
   * pipeline that only archives has no processors and gets no items.
   */
  archive?(exchange: Exchange): void | Promise<void>;
  /** Called once when the crawl ends. */
  close?(): void | Promise<void>;
}

/** The type of a module by its kind. */
export interface ModuleOf {
  /** Downloads. */
  downloader: Downloader;
  /** Reads pages. */
  analyzer: Analyzer;
  /** Works on items. */
  pipeline: Pipeline;
}

/** The kinds of modules. */
export type ModuleKind = keyof ModuleOf;
const MODULE_KINDS: readonly ModuleKind[] = ["downloader", "analyzer", "pipeline"];

/** How much a module has worked. */
export interface ModuleCounts {
  /** Its name. */
  readonly id: string;
  /** Times that it was chosen. */
  readonly called: number;
  /** Times that its work began. */
  readonly accepted: number;
  /** Times that it answered. */
  readonly completed: number;
  /** Calls under way. */
  readonly handling: number;
}

/** A module that was chosen, with its counters. */
export interface Chosen<K extends ModuleKind> {
  /** Its name. */
  readonly id: string;
  /** The module. */
  readonly module: ModuleOf[K];
  /** Counts that its work began. */
  accepted(): void;
  /** Counts that it answered, or threw. */
  ended(isCompleted: boolean): void;
}

/** The modules of a crawl. Of several of a kind, the least loaded one is called. */
export interface ModuleRegistry {
  /**
   * Adds a module and returns its name. Throws `ARGUMENT_INVALID` for a name that is taken, or for an object that
   * is no such module.
   */
  register<K extends ModuleKind>(kind: K, module: ModuleOf[K], id?: string): string;
  /** Removes a module. Returns false where there is none of that name. */
  unregister(kind: ModuleKind, id: string): boolean;
  /** The least loaded module of a kind; undefined: there is none. */
  choose<K extends ModuleKind>(kind: K): Chosen<K> | undefined;
  /** Whether a pipeline archives. */
  readonly isArchiving: boolean;
  /** Hands an exchange to each pipeline that archives, one after another; rejects as they do. */
  archive(exchange: Exchange): Promise<void>;
  /** Counters of every module by kind, sorted by name. */
  counts(): Record<ModuleKind, ModuleCounts[]>;
  /** Calls a listener after each registration. */
  onRegister(listener: (kind: ModuleKind) => void): void;
  /** Closes every module. */
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
      const entry = leastLoaded(entries[kind].filter(({ module }) => worksOnItems(module)));
      return entry === undefined ? undefined : chosen(entry);
    },
    get isArchiving() {
      return archivesOf(entries.pipeline).length > 0;
    },
    async archive(exchange) {
      for (const pipeline of archivesOf(entries.pipeline)) await pipeline.archive?.(exchange);
    },
    counts: () => ({
      downloader: countsOf(entries.downloader),
      analyzer: countsOf(entries.analyzer),
      pipeline: countsOf(entries.pipeline),
    }),
    onRegister: (listener) => void listeners.push(listener),
    async close() {
      const all = [...MODULE_KINDS.flatMap((kind) => entries[kind]), ...closed];
      const ends = await Promise.allSettled(all.map(async ({ module }) => module.close?.()));
      for (const end of ends) if (end.status === "rejected") throw end.reason;
    },
  };
}

/** Whether a pipeline processes items: one that only archives has no processors, or an empty list. */
function worksOnItems(module: ModuleOf[ModuleKind]): boolean {
  const { archive, processors } = module as Partial<Pipeline>;
  return archive === undefined || processors?.length !== 0;
}

function archivesOf(entries: readonly Entry[]): Pipeline[] {
  const pipelines = entries.map(({ module }) => module as Pipeline);
  return pipelines.filter(({ archive }) => archive !== undefined);
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
  if (chosen === undefined) throw misuse("STATE_INVALID", "downloader", "none", "at least one");
  let isCompleted = false;
  chosen.accepted();
  try {
    const answer = await chosen.module.download({
      ...request,
      ...(registry.isArchiving ? { onExchange: (exchange) => registry.archive(exchange) } : {}),
    });
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

/** Throws for an object that is no module of a kind. */
export function checkModule(kind: ModuleKind, module: unknown): void {
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
