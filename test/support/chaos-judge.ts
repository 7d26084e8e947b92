/**
 * What the log of a web shows of processes that crawled it together while they, the servers and the links failed.
 *
 *   lost        pages that are reachable and were never visited
 *   repeated    visits after a server had acknowledged that the page is done
 *   shared      visits of a page while another process held a live lease of it
 *   hasty       visits of a host too soon after the one before
 *   unfenced    results that were taken although they were sent after their lease had ended
 *   late        visits that began after their lease had ended: a process was stopped between the hand-out and the request; these are
 *               counted, and no fault
 *
 * Times are those of the machine, on which the servers run too: a lease's deadline is on the same clock.
 */
import type { WebLogEntry } from "../../src/testing.ts";

/** What processes noted: of which page, and when, by the clock of the web's log. In whole milliseconds a note could precede the visit that led to it. */
export interface Note {
  readonly kind: "done" | "givenBack";
  readonly url: string;
  readonly atMs: number;
  /** When its process began to send it; a stopped process may note an old answer. */
  readonly sentMs: number;
  /** Of a result that was taken: it was sent after its lease's deadline. */
  readonly isAfterDeadline: boolean;
}

export interface Visit {
  readonly url: string;
  readonly host: string;
  readonly beginMs: number;
  readonly endMs: number;
  readonly process: string;
  readonly deadlineMs: number;
}

export interface Verdict {
  readonly lost: string[];
  /** Lost pages that a page led to which was done outside of every window. */
  readonly lostBefore: string[];
  readonly repeated: string[];
  readonly shared: string[];
  readonly hasty: string[];
  readonly unfenced: string[];
  readonly late: number;
  /** Visits within a window. */
  readonly excused: number;
}

export interface Evidence {
  readonly visits: readonly Visit[];
  readonly notes: readonly Note[];
  /** Pages that links lead to, and the pages that these links are on. */
  readonly reachable: ReadonlyMap<string, readonly string[]>;
  /** Least time between two visits of a host. */
  readonly delayMs: number;
  /** Whether acknowledged writes of some moment between these may have been lost with a master. */
  isInWindow(fromMs: number, toMs: number): boolean;
}

/** Clocks and timers of several processes on one machine. */
const TOLERANCE_MS = 5;

/** Visits of a log whose times begin at `epochMs`. */
export function visitsOf(entries: readonly WebLogEntry[], epochMs: number): Visit[] {
  return entries.map(({ host, path, agent, beginMs, endMs }) => {
    const [process = "", deadline] = agent.split(" ");
    return {
      ...{ url: `http://${host}${path}`, host, process, deadlineMs: Number(deadline) },
      ...{ beginMs: epochMs + beginMs, endMs: epochMs + (endMs ?? Number.POSITIVE_INFINITY) },
    };
  });
}

export function judge(evidence: Evidence): Verdict {
  const { visits, reachable, isInWindow, notes } = evidence;
  const seen = new Set(visits.map(({ url }) => url));
  const isExcused = ({ beginMs }: Visit): boolean => isInWindow(beginMs, beginMs);
  const inTime = visits.filter((visit) => !isLate(visit) && !isExcused(visit));
  const lost = [...reachable.keys()].filter((url) => !seen.has(url));
  const firm = new Set(
    notes.filter(({ sentMs, atMs }) => !isInWindow(sentMs, atMs)).map(({ url }) => url),
  );
  return {
    lost,
    lostBefore: lost.filter((url) => reachable.get(url)?.some((page) => firm.has(page))),
    repeated: repeated(inTime, evidence),
    shared: shared(inTime, evidence),
    hasty: hasty(inTime, evidence),
    unfenced: notes.filter(({ isAfterDeadline }) => isAfterDeadline).map(({ url }) => url),
    late: visits.filter(isLate).length,
    excused: visits.filter(isExcused).length,
  };
}

function isLate({ beginMs, deadlineMs }: Visit): boolean {
  return beginMs >= deadlineMs;
}

function repeated(visits: readonly Visit[], { notes, isInWindow }: Evidence): string[] {
  const doneAt = new Map<string, number>();
  for (const { kind, url, sentMs, atMs } of notes) {
    if (kind === "done" && !isInWindow(sentMs, atMs))
      doneAt.set(url, Math.min(atMs, doneAt.get(url) ?? atMs));
  }
  return visits
    .filter(({ url, beginMs }) => beginMs > (doneAt.get(url) ?? Number.POSITIVE_INFINITY))
    .map(({ url, process }) => `${url} by ${process}`);
}

function shared(visits: readonly Visit[], { notes }: Evidence): string[] {
  const ends = new Map<string, number[]>();
  for (const { url, atMs } of notes) ends.set(url, [...(ends.get(url) ?? []), atMs]);
  const found: string[] = [];
  for (const [url, list] of byName(visits, ({ url }) => url)) {
    list.forEach((visit, at) => {
      const before = list[at - 1];
      if (before === undefined || visit.beginMs >= before.deadlineMs) return;
      const isEnded = (ends.get(url) ?? []).some(
        (atMs) => atMs >= before.beginMs && atMs <= visit.beginMs,
      );
      if (!isEnded) found.push(`${url} by ${before.process} and ${visit.process}`);
    });
  }
  return found;
}

function hasty(visits: readonly Visit[], { delayMs }: Evidence): string[] {
  const found: string[] = [];
  for (const list of byName(visits, ({ host }) => host).values()) {
    list.forEach((visit, at) => {
      const before = list[at - 1];
      if (before === undefined) return;
      const gap = visit.beginMs - before.beginMs;
      const isParallel = visit.beginMs < Math.min(before.endMs, before.deadlineMs);
      if (gap < delayMs - TOLERANCE_MS || isParallel)
        found.push(`${before.url} and after ${gap.toFixed(1)} ms ${visit.url}`);
    });
  }
  return found;
}

function byName(visits: readonly Visit[], nameOf: (visit: Visit) => string): Map<string, Visit[]> {
  const lists = new Map<string, Visit[]>();
  for (const visit of [...visits].sort((a, b) => a.beginMs - b.beginMs)) {
    const name = nameOf(visit);
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [visit]);
    else list.push(visit);
  }
  return lists;
}
