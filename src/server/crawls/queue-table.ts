/**
 * The queues of one crawl: counts and clocks of each, some 300 bytes per queue; their URLs are in the frontier.
 *
 * A queue may go when it is not blocked, its delay has passed, it has not reached its limit, and it holds fewer URLs in
 * process than are asked for. Times are whole seconds: a queue that handed out URLs in second t hands out the next ones after second t +
 * delay.
 *
 *   I1  active + completed of a queue = its URLs.
 *   I2  The table's sums are the sums of its queues.
 */
export interface Queue {
  readonly key: string;
  /** Name of its epoch: one text for all of its URLs. */
  readonly epoch: string;
  active: number;
  completed: number;
  /** Seconds between two hand-outs; undefined: the default. */
  delay: number | undefined;
  /** Not before this second has passed; 0: not blocked. */
  blockedUntil: number;
  /** Finished URLs after which it hands out no more; 0: no limit. */
  limit: number;
  /** The second in which it last handed out URLs; 0: never. */
  producedAt: number;
  /** Most URLs in process that the frontier allows. */
  roomMax: number;
  /** Whether the frontier holds it, since its limit is reached. */
  isHeld: boolean;
}

export interface QueueTable {
  readonly queues: Map<string, Queue>;
  /** Queues by hashes of their keys; of two with one hash the later. To cut a host out of a URL and to find its queue by that takes longer. */
  readonly byHost: Map<number, Queue>;
  active: number;
  completed: number;
  /** Queues with active URLs. */
  activeQueues: number;
}

export const EPOCH_PREFIX = "q:";

export function createQueueTable(): QueueTable {
  return { queues: new Map(), byHost: new Map(), active: 0, completed: 0, activeQueues: 0 };
}

/** As many as a rule can name. */
export const ROOM_ANY = 2 ** 31 - 1;

/** The queue of a URL's host, which stands there; undefined: none is found by it. @hot */
export function queueOfHost(
  { byHost }: QueueTable,
  url: string,
  start: number,
  end: number,
): Queue | undefined {
  const queue = byHost.get(hashOf(url, start, end));
  if (queue === undefined || queue.key.length !== end - start) return undefined;
  return url.startsWith(queue.key, start) ? queue : undefined;
}

/** FNV-1a of the characters. */
function hashOf(text: string, start = 0, end = text.length): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** The queue of a key, created if it is missing; `epoch` is the name of its epoch where that was made before. */
export function queueFor(table: QueueTable, key: string, epoch = EPOCH_PREFIX + key): Queue {
  const known = table.queues.get(key);
  if (known !== undefined) return known;
  const queue: Queue = {
    key,
    epoch,
    active: 0,
    completed: 0,
    delay: undefined,
    blockedUntil: 0,
    limit: 0,
    producedAt: 0,
    roomMax: ROOM_ANY,
    isHeld: false,
  };
  table.queues.set(key, queue);
  table.byHost.set(hashOf(key), queue);
  return queue;
}

/** Changes the counts of a queue (I2). */
export function countUrls(
  table: QueueTable,
  queue: Queue,
  active: number,
  completed: number,
): void {
  if (queue.active > 0) table.activeQueues--;
  queue.active += active;
  queue.completed += completed;
  if (queue.active > 0) table.activeQueues++;
  table.active += active;
  table.completed += completed;
}

export function removeQueue(table: QueueTable, queue: Queue): number {
  const { active, completed } = queue;
  countUrls(table, queue, -active, -completed);
  table.queues.delete(queue.key);
  const hash = hashOf(queue.key);
  if (table.byHost.get(hash) === queue) table.byHost.delete(hash);
  return active + completed;
}

/** The last second in which the queue may not go. */
export function closedUntil(queue: Queue, delayDefault: number): number {
  const { producedAt } = queue;
  const politeUntil = producedAt === 0 ? 0 : producedAt + (queue.delay ?? delayDefault);
  return Math.max(queue.blockedUntil, politeUntil);
}

export function isLimitReached({ limit, completed }: Queue): boolean {
  return limit > 0 && completed >= limit;
}
