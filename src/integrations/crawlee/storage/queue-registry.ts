/**
 * Room `src/integrations/crawlee/storage`: Crawlee's storages on frontiers: which queue is which frontier, and the protocols of
 * versions 3 and 4. May touch what `src/integrations/crawlee` may.
 *
 * QueueRegistry: the request queues of a storage, each a frontier of its own in the storage's directory, opened when it is first asked for.
 *
 *   queue     frontier's name    emptied by purge
 *   default   "default"          yes, under its name and both of its aliases
 *   named     its name           no, but those that begin with __CRAWLEE_TEMPORARY
 *   alias     "~" and the alias  yes, also what an earlier process left: the default queue's state lists them
 *   unnamed   its id             no
 *   renamed   as it was made     by its new name; queue-links.ts finds it
 *
 * The times and the deletions of a queue are in its frontier's state, and so is the list of aliases.
 *
 *   I1  One entry for each name, whatever its upper and lower case, as in Crawlee; two that ask for it at once get the same one.
 *   I2  A request that was deleted is put as finished, and its id noted: it is not counted and not returned until it is added again.
 */
import type { FrontierOptions } from "../../../index.ts";
import { type Clock, createSystemClock } from "../../../base/clock.ts";
import { misuse } from "../../../base/errors.ts";
import { frontierNames } from "../../../engine/api/open-frontier.ts";
import { crawleeFrontier } from "../manager-options.ts";
import { requestId } from "../request-id.ts";
import type { AnyFrontier, StoreOptions } from "../request-store.ts";
import { QueueEntry, readState, writeState } from "./queue-entry.ts";
import { nameTaken, QueueLinks } from "./queue-links.ts";

export interface RegistryOptions {
  readonly frontier: FrontierOptions;
  readonly open: (options: FrontierOptions) => Promise<AnyFrontier>;
  readonly priorityOf: StoreOptions["priorityOf"];
  readonly keepHandled: boolean;
}

/**
 * Which queue of a storage to open; without a field, the default one.
 *
 * @example
 * await backend.createRequestQueueBackend({ alias: "of-this-run" });
 */
export interface QueueName {
  /**
   * Its id.
   * @defaultValue none
   */
  readonly id?: string | undefined;
  /**
   * Its name: it is kept over runs.
   * @defaultValue none
   */
  readonly name?: string | undefined;
  /**
   * Its alias: it is emptied when a run begins.
   * @defaultValue none
   */
  readonly alias?: string | undefined;
}

const DEFAULT = "default";
/** Aliases of the default queue; Crawlee 4 opens it by the first. */
const DEFAULTS = new Set(["__default__", DEFAULT]);
const ALIAS = "~";
const TEMPORARY = "__CRAWLEE_TEMPORARY";
/** What `requestId` makes of a name. */
const ID = /^[A-Za-z\d]{15}$/;

export class QueueRegistry {
  readonly #options: RegistryOptions;
  readonly #clock: Clock;
  readonly #links: QueueLinks;
  readonly #entries = new Map<string, Promise<QueueEntry>>();
  /** Entries that are open, by their frontiers' names, for look-ups that can not wait. */
  readonly #open = new Map<string, QueueEntry>();
  /** Openings wait for the renames and drops before them, and renames for the openings. */
  #changed: Promise<unknown> = Promise.resolve();

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#clock = options.frontier.clock ?? createSystemClock();
    this.#links = new QueueLinks({
      known: (name) => this.#open.get(name.toLowerCase())?.frontier,
      open: (name) => options.open(crawleeFrontier({ ...options.frontier, name })),
      isUsed,
    });
  }

  /** An open queue by its id or name, whatever its case. */
  find(idOrName: string): QueueEntry | undefined {
    const wanted = idOrName.toLowerCase();
    for (const entry of this.#open.values()) {
      if (entry.id === idOrName || entry.name?.toLowerCase() === wanted) return entry;
    }
    return undefined;
  }

  /** Whether a queue of that id is open, or was made in the directory by an earlier process. */
  has(id: string): boolean {
    return this.all().some((entry) => entry.id === id) || this.#nameOf(id) !== undefined;
  }

  /** The name of a frontier in the directory by the id of its queue, the hash of that name; not of a renamed one, which has a pointer. */
  #nameOf(id: string): string | undefined {
    const { directory } = this.#options.frontier;
    if (directory === undefined || !ID.test(id)) return undefined;
    const names = frontierNames(directory);
    return names.includes(id) ? undefined : names.find((name) => requestId(name) === id);
  }

  /** Open queues, the oldest first. */
  all(): QueueEntry[] {
    return [...this.#open.values()];
  }

  /** A queue, opened where it is not yet. Rejects with `ARGUMENT_INVALID` for a name that reaches out of the directory. */
  async open({ id, name, alias }: QueueName): Promise<QueueEntry> {
    const isAlias = alias !== undefined && !DEFAULTS.has(alias);
    const wanted = id ?? name ?? (isAlias ? alias : DEFAULT);
    checkName(wanted);
    await this.#changed;
    const known = isAlias ? undefined : this.find(wanted);
    if (known !== undefined) return known;
    const made = isAlias ? undefined : this.#nameOf(wanted);
    const asked = isAlias ? ALIAS + alias : (made ?? wanted);
    const key = asked.toLowerCase();
    const opening =
      this.#entries.get(key) ?? this.#openEntry(asked, { id, name: nameBy(made, name) });
    this.#entries.set(key, opening);
    try {
      const entry = await opening;
      if (isAlias) await this.#noteAlias(alias);
      return entry;
    } catch (error) {
      this.#entries.delete(key);
      throw error;
    }
  }

  async #openEntry(asked: string, { id, name }: QueueName): Promise<QueueEntry> {
    const { priorityOf, keepHandled } = this.#options;
    const { link, ...place } = await this.#links.find(asked, id);
    const key = place.name.toLowerCase();
    const isNamed = name !== undefined || link.id === asked;
    const names = {
      id: link.id ?? id ?? requestId(place.name),
      key: link.name ?? asked,
      name: isNamed ? (link.name ?? name) : undefined,
    };
    const options = { priorityOf, keepHandled, keepsShape: true, clock: this.#clock };
    const entry = this.#open.get(key) ?? new QueueEntry(place, names, options);
    this.#open.set(key, entry);
    return entry;
  }

  /** Changes a queue's name; its id stays. Rejects with `STATE_INVALID` where a queue has that name, open or not. */
  async rename(entry: QueueEntry, name: string): Promise<void> {
    checkName(name);
    await this.#change(() => this.#rename(entry, name));
  }

  async #change(change: () => Promise<void>): Promise<void> {
    const changing = this.#changed.then(change);
    this.#changed = changing.catch(() => undefined);
    await changing;
  }

  async #rename(entry: QueueEntry, name: string): Promise<void> {
    await Promise.allSettled(this.#entries.values());
    entry.assertOpen();
    if (this.find(name) !== undefined) throw nameTaken(name);
    const { id, key: from } = entry;
    await this.#links.rename(entry.place, { id, from, to: name });
    await this.#forgetOpenings(entry);
    entry.key = name;
    entry.name = name;
    entry.touch(true);
  }

  async #noteAlias(alias: string): Promise<void> {
    if (this.#options.frontier.directory === undefined) return;
    const { frontier } = await this.open({ name: DEFAULT });
    const { aliases = [] } = readState(frontier);
    if (!aliases.includes(alias)) writeState(frontier, { aliases: [...aliases, alias] });
  }

  /** Removes a queue and its files. */
  async drop(entry: QueueEntry): Promise<void> {
    await this.#change(async () => {
      if (entry.isDropped || entry.isClosed) return;
      entry.isDropped = true;
      this.#open.delete(entry.place.name.toLowerCase());
      await this.#forgetOpenings(entry);
      await this.#links.drop(entry.place);
    });
  }

  /** Forgets openings of an entry, so that its names are looked up again. */
  async #forgetOpenings(entry: QueueEntry): Promise<void> {
    for (const [key, opening] of this.#entries)
      if ((await opening.catch(() => undefined)) === entry) this.#entries.delete(key);
  }

  /** Empties the queues of one run: the default one, aliases, and temporary ones. */
  async purge(): Promise<void> {
    if (this.#options.frontier.directory !== undefined) {
      const { frontier } = await this.open({ name: DEFAULT });
      for (const alias of readState(frontier).aliases ?? []) await this.open({ alias });
    }
    for (const entry of this.all()) {
      const key = entry.key.toLowerCase();
      const isOfRun = key === DEFAULT || key.startsWith(ALIAS);
      if (isOfRun || key.startsWith(TEMPORARY.toLowerCase())) await entry.clear();
    }
  }

  /** Resolves when every queue is on the disk. */
  async flush(): Promise<void> {
    for (const entry of this.#open.values()) await entry.frontier.flush();
  }

  /** Closes every queue. */
  async close(): Promise<void> {
    const all = this.all();
    this.#open.clear();
    this.#entries.clear();
    for (const entry of all) {
      entry.isClosed = true;
      await entry.frontier.close();
    }
  }
}

/** Whether a frontier was ever opened as a queue, or has requests from elsewhere. */
async function isUsed(frontier: AnyFrontier): Promise<boolean> {
  if (readState(frontier).createdAt !== undefined) return true;
  const { pending, waiting, leased, done, failed } = await frontier.report();
  return pending + waiting + leased + done + failed > 0;
}

/** The name of a queue that was found by its id: of the default one, and of aliases, none. */
function nameBy(made: string | undefined, name: string | undefined): string | undefined {
  if (made === undefined) return name;
  return made === DEFAULT || made.startsWith(ALIAS) ? undefined : made;
}

function checkName(name: string): void {
  if (!/[\\/]|^\.{1,2}$/.test(name) && name !== "") return;
  throw misuse("ARGUMENT_INVALID", "name", name, "a name without path segments");
}
