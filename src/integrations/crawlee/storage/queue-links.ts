/**
 * QueueLinks: which frontier has the queue of a name or an id. A queue stays in the frontier that it was made in; a rename writes links into
 * the states of frontiers, which are kept as their contents are.
 *
 *   frontier   state                       after `news` was renamed to `archive`, and another `news` was made
 *   news       id, name: archive           the queue `archive`
 *              standsFor: 0a1b…            the queue `news` is elsewhere
 *   archive    standsFor: news             no queue: a pointer
 *   <its id>   standsFor: news             no queue: a pointer
 *   0a1b…      id, name: news              the queue `news`
 *
 *   I1  The frontier with the queue decides its name: a pointer to it by another name is ignored. Writing its name is the rename.
 *   I2  Pointers are written before the name and removed after it, so that a crash leaves the old name or the new one.
 */
import { FrontierError } from "../../../base/errors.ts";
import { givenOf } from "../../../base/plain-copy.ts";
import { newId } from "../request-id.ts";
import type { AnyFrontier } from "../request-store.ts";

interface QueueLink {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly standsFor?: string | undefined;
}

/** A frontier and its name. */
export interface QueuePlace {
  readonly name: string;
  readonly frontier: AnyFrontier;
}

interface LinkedPlace extends QueuePlace {
  readonly link: QueueLink;
  /** Opened only to read its link. */
  readonly isVisit: boolean;
}

export interface LinkOptions {
  /** A frontier that is open. */
  readonly known: (name: string) => AnyFrontier | undefined;
  readonly open: (name: string) => Promise<AnyFrontier>;
  /** Whether a frontier was ever a queue. */
  readonly isUsed: (frontier: AnyFrontier) => Promise<boolean>;
}

const LINK = "crawlee-link";

export class QueueLinks {
  readonly #options: LinkOptions;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** The frontier with the queue of a name, or of an id where that is known: of that name, or a new one where another queue is in that. */
  async find(asked: string, id: string | undefined): Promise<QueuePlace & { link: QueueLink }> {
    const { holder, queue } = await this.#resolve(asked);
    if (queue === undefined) return await this.#make(holder, id);
    if (holder !== queue) await leave(holder);
    return queue;
  }

  async #make(
    holder: LinkedPlace,
    id: string | undefined,
  ): Promise<QueuePlace & { link: QueueLink }> {
    const name = newId();
    const link = id === undefined ? { id: name, name: holder.name } : { id };
    const frontier = await this.#options.open(name);
    await changeLink(frontier, link);
    await changeLink(holder.frontier, { standsFor: name });
    await leave(holder);
    return { name, frontier, link };
  }

  /** Renames a queue. Rejects with STATE_INVALID where another has that name. */
  async rename(
    { name: own, frontier }: QueuePlace,
    { id, from, to }: { id: string; from: string; to: string },
  ): Promise<void> {
    const { holder, queue } = await this.#resolve(to);
    const isTaken =
      queue !== undefined && (queue !== holder || (await this.#options.isUsed(queue.frontier)));
    if (!isTaken && holder.frontier !== frontier)
      await changeLink(holder.frontier, { standsFor: own });
    await leave(holder);
    if (queue !== undefined && queue !== holder) await leave(queue);
    if (isTaken) throw nameTaken(to);
    if (id !== own) await this.#point(id, own);
    await changeLink(frontier, { id, name: to });
    await this.#unpoint(from, own);
  }

  async #point(from: string, to: string): Promise<void> {
    const place = await this.#visit(from);
    if (place.link.standsFor !== to) await changeLink(place.frontier, { standsFor: to });
    await leave(place);
  }

  /** Removes the pointer from a name to a frontier, and the pointer's own frontier where it has nothing else. */
  async #unpoint(from: string, to: string): Promise<void> {
    if (from === to) return;
    const place = await this.#visit(from);
    const isPointer = place.link.standsFor === to;
    if (isPointer) await changeLink(place.frontier, { standsFor: undefined });
    const isEmpty = isPointer && place.link.name === undefined;
    await leave(place, isEmpty && !(await this.#options.isUsed(place.frontier)));
  }

  /** Removes a queue's frontier, or only its contents where another queue is found by it, and then the pointers to it. */
  async drop({ name: own, frontier }: QueuePlace): Promise<void> {
    const { id, name, standsFor } = await readLink(frontier);
    if (standsFor !== undefined) {
      await frontier.clear();
      await replaceState(frontier, { [LINK]: { standsFor } });
    }
    await frontier.close({ discard: standsFor === undefined });
    for (const asked of [name, id]) if (asked !== undefined) await this.#unpoint(asked, own);
  }

  /** `holder`: the frontier of that name; `queue`: the one with the queue. */
  async #resolve(asked: string) {
    const holder = await this.#visit(asked);
    const { standsFor } = holder.link;
    if (standsFor !== undefined) {
      const queue = await this.#visit(standsFor);
      if (isFoundBy(queue, asked)) return { holder, queue };
      await leave(queue);
    }
    return { holder, queue: isFoundBy(holder, asked) ? holder : undefined };
  }

  async #visit(name: string): Promise<LinkedPlace> {
    const known = this.#options.known(name);
    const frontier = known ?? (await this.#options.open(name));
    return { name, frontier, link: await readLink(frontier), isVisit: known === undefined };
  }
}

/** Ends a visit. */
async function leave({ frontier, isVisit }: LinkedPlace, discard = false): Promise<void> {
  if (isVisit) await frontier.close({ discard });
}

function isFoundBy({ name: own, link: { id, name = own } }: LinkedPlace, asked: string): boolean {
  return id === asked || name.toLowerCase() === asked.toLowerCase();
}

async function readLink(frontier: AnyFrontier): Promise<QueueLink> {
  const state = typeof frontier.state === "function" ? await frontier.state() : frontier.state;
  return (state[LINK] as QueueLink | undefined) ?? {};
}

/** Resolves when it is on the disk. */
async function changeLink(frontier: AnyFrontier, change: QueueLink): Promise<void> {
  const state = typeof frontier.state === "function" ? await frontier.state() : frontier.state;
  const link = givenOf({ ...(state[LINK] as QueueLink | undefined), ...change });
  await replaceState(frontier, { ...state, [LINK]: link });
}

async function replaceState(frontier: AnyFrontier, state: Record<string, unknown>): Promise<void> {
  if ("setState" in frontier) await frontier.setState(state);
  else frontier.state = state;
  await frontier.flush();
}

/** Refusal of a rename; its message is that of Crawlee's own storage, and what is expected. */
export function nameTaken(name: string): FrontierError {
  const taken = `Request queue with name: ${name} already exists.`;
  const message = `${taken} (expected: a name that no queue has)`;
  return new FrontierError("STATE_INVALID", message, { name: "name", value: name });
}
