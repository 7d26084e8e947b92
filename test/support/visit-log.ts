/**
 * A web server whose log judges a crawl: which page was visited when, by whom and under which lease. The frontier's own counts are not asked.
 *
 *   GET /?host=a&page=7&lease=<deadline ms>&by=<process>  ─▶ begins ─ visitMs ─▶ ends
 *
 *   politeness     the visits of a host are at least its delay apart, and never two at once
 *   double visits  a page is visited again only after the lease of the visit before has ended
 *
 * What no frontier can prevent is left out of the faults and counted: a visit of a process that was stopped (`excuse`) and went on after its
 * deadline, and leases that were granted in a window in which the server lost what it had acknowledged (`excuseWindow`).
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export interface Visit {
  readonly host: string;
  readonly page: string;
  /** The process that made it. */
  readonly by: string;
  readonly deadlineMs: number;
  readonly beganMs: number;
  endedMs: number;
}

export interface Judgement {
  readonly visits: number;
  readonly pages: number;
  /** Pages with two live holders, as text. */
  readonly doubled: string[];
  /** Visits of a host that were too near to the one before, as text. */
  readonly hasty: string[];
  /** Faults of stopped processes and of lost windows, which are excused. */
  readonly excused: number;
}

export interface VisitLog {
  readonly port: number;
  readonly visits: readonly Visit[];
  /** The process was stopped at some time: its visits that outlived their leases are excused. */
  excuse(by: string): void;
  /** Leases granted between these times may be lost by the server; they are excused. */
  excuseWindow(fromMs: number, toMs: number): void;
  /** Judges every visit so far. `leaseMs`: how long a lease lasts. `slackMs`: how much less than the delay is no fault. */
  judge(law: { delayMs: number; slackMs: number; leaseMs: number }): Judgement;
  close(): Promise<void>;
}

/** Starts it on a free port of the loopback; a visit lasts `visitMs`. */
export async function openVisitLog(visitMs = 2): Promise<VisitLog> {
  const visits: Visit[] = [];
  const stopped = new Set<string>();
  const windows: Array<[number, number]> = [];
  const server = createServer((request, response) => answer(visits, visitMs, request, response));
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as { port: number }).port,
    visits,
    excuse: (by) => void stopped.add(by),
    excuseWindow: (fromMs, toMs) => void windows.push([fromMs, toMs]),
    judge: (law) => judge(visits, { ...law, stopped, windows }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function answer(
  visits: Visit[],
  visitMs: number,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { searchParams } = new URL(request.url ?? "/", "http://log");
  const of = (name: string): string => searchParams.get(name) ?? "";
  const began = { host: of("host"), page: of("page"), by: of("by"), beganMs: Date.now() };
  const visit: Visit = { ...began, deadlineMs: Number(of("lease")), endedMs: Infinity };
  visits.push(visit);
  const end = (): void => {
    visit.endedMs = Math.min(visit.endedMs, Date.now());
  };
  response.once("close", end); // the process died: nobody visits any more
  setTimeout(() => {
    end();
    response.end();
  }, visitMs);
}

interface Law {
  readonly delayMs: number;
  readonly slackMs: number;
  readonly leaseMs: number;
  readonly stopped: ReadonlySet<string>;
  readonly windows: ReadonlyArray<readonly [number, number]>;
}

/** Judges visits that are sorted by their beginning. */
export function judge(visits: readonly Visit[], law: Law): Judgement {
  const sorted = [...visits].sort((a, b) => a.beganMs - b.beganMs);
  const [doubled, hasty]: [string[], string[]] = [[], []];
  let excused = 0;
  const isExcused = (visit: Visit): boolean => {
    const grantedMs = visit.deadlineMs - law.leaseMs;
    const isLost = law.windows.some(([from, to]) => grantedMs >= from && grantedMs <= to);
    const isStopped = law.stopped.has(visit.by) && visit.endedMs > visit.deadlineMs - law.delayMs;
    return isLost || isStopped;
  };
  const fault = (list: string[], before: Visit, visit: Visit): void => {
    if (isExcused(before) || isExcused(visit)) excused++;
    else list.push(`${describe(before)} · ${describe(visit)}`);
  };
  const pages = new Map<string, Visit>();
  const hosts = new Map<string, Visit>();
  for (const visit of sorted) {
    const held = pages.get(visit.page);
    const isHeld = held !== undefined && visit.beganMs < Math.min(held.endedMs, held.deadlineMs);
    if (isHeld) fault(doubled, held, visit);
    pages.set(visit.page, visit);
    const last = hosts.get(visit.host);
    if (last !== undefined && visit.beganMs < law.delayMs - law.slackMs + restFrom(last)) {
      fault(hasty, last, visit);
    }
    if (last === undefined || restFrom(visit) > restFrom(last)) hosts.set(visit.host, visit);
  }
  return { visits: visits.length, pages: pages.size, doubled, hasty, excused };
}

/** The earliest time from which the frontier may count a host's rest: the end of the visit, its death, or its deadline. */
function restFrom({ beganMs, endedMs, deadlineMs }: Visit): number {
  return Math.max(beganMs, Math.min(endedMs, deadlineMs));
}

function describe({ page, by, beganMs, endedMs, deadlineMs }: Visit): string {
  return `${page} by ${by} ${beganMs}–${endedMs} lease until ${deadlineMs}`;
}
