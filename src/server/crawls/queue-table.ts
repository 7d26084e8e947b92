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
  active: number;
  completed: number;
  /** Queues with active URLs. */
  activeQueues: number;
}

export const EPOCH_PREFIX = "q:";

export function createQueueTable(): QueueTable {
  return { queues: new Map(), active: 0, completed: 0, activeQueues: 0 };
}

/** As many as a rule can name. */
export const ROOM_ANY = 2 ** 31 - 1;

/** The queue of a key, created if it is missing. */
export function queueFor(table: QueueTable, key: string): Queue {
  const known = table.queues.get(key);
  if (known !== undefined) return known;
  const queue: Queue = {
    key,
    epoch: EPOCH_PREFIX + key,
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
