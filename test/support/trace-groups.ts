/**
 * Groups of the trace checker: limits of the clocks above hosts, kept in two numbers a group.
 *
 *   hand-out   active below the limit and readyAt passed; then active + 1, readyAt = now + delay
 *   end        active − 1, readyAt = end + delay            a later clock stays
 *   release    active − 1, readyAt as it was before the hand-out, unless it was set since
 */
export interface GroupShape {
  /** How many groups of this kind there are, and which one a host belongs to. */
  readonly count: number;
  groupOf(host: number): number;
  readonly limit: number;
  readonly delayMs: number;
}

export interface GroupTrace {
  readonly shape: GroupShape;
  readonly active: Int32Array;
  readonly readyAt: Float64Array;
  /** The most visits that any group had at once: 1 would mean that nothing was tested. */
  most: number;
}

/** The effect of a hand-out on the clock of one group. */
export interface TracedHold {
  readonly before: number;
  readonly set: number;
}

export function createGroupTrace(shape: GroupShape): GroupTrace {
  const { count } = shape;
  return { shape, active: new Int32Array(count), readyAt: new Float64Array(count), most: 0 };
}

/** The fault of a hand-out on this host now; undefined: none. */
export function groupFault(
  groups: readonly GroupTrace[],
  host: number,
  nowMs: number,
): "group-parallel" | "group-gap" | undefined {
  for (const { shape, active, readyAt } of groups) {
    const group = shape.groupOf(host);
    if ((active[group] as number) >= shape.limit) return "group-parallel";
    if (nowMs < (readyAt[group] as number)) return "group-gap";
  }
  return undefined;
}

export function holdGroups(
  groups: readonly GroupTrace[],
  host: number,
  nowMs: number,
): TracedHold[] {
  return groups.map((trace) => {
    const { shape, active, readyAt } = trace;
    const group = shape.groupOf(host);
    const before = readyAt[group] as number;
    const set = Math.max(before, nowMs + shape.delayMs);
    readyAt[group] = set;
    active[group] = (active[group] as number) + 1;
    trace.most = Math.max(trace.most, active[group] as number);
    return { before, set };
  });
}

export function endGroups(groups: readonly GroupTrace[], host: number, endMs: number): void {
  for (const { shape, active, readyAt } of groups) {
    const group = shape.groupOf(host);
    active[group] = (active[group] as number) - 1;
    readyAt[group] = Math.max(readyAt[group] as number, endMs + shape.delayMs);
  }
}

export function releaseGroups(
  groups: readonly GroupTrace[],
  host: number,
  holds: readonly TracedHold[],
): void {
  for (const [index, { shape, active, readyAt }] of groups.entries()) {
    const group = shape.groupOf(host);
    const { before, set } = holds[index] as TracedHold;
    active[group] = (active[group] as number) - 1;
    if (readyAt[group] === set) readyAt[group] = before;
  }
}
