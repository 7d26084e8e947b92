/** What the page shows of a frontier, and what it can do to it. */
import { readFirstRecords } from "../../engine/api/first-records.ts";
import type { AsyncFrontier, Frontier, Report } from "../../index.ts";

/** A frontier that the page shows: in this process, or elsewhere. */
export type Watched = Frontier | AsyncFrontier;

/** A request for something that does not exist. */
export class ActionError extends Error {}

/** Rows of tables: enough to read, few enough to send each second. */
const HOSTS_MAX = 200;
const FAILURES_MAX = 50;
/** Records that are read for the hosts. */
const RECORDS_MAX = 2_000;

export interface HostRow {
  readonly key: string;
  readonly pending: number;
  readonly leased: number;
  readonly delayMs: number;
  readonly readyAt: number;
  readonly blockedUntil: number;
  readonly held: boolean;
  readonly failures: number;
  /** How well it answers; undefined: not known. */
  readonly score: number | undefined;
  /** Why it is not visited at this moment. */
  readonly why: string;
}

/** What the page shows of one frontier. */
export interface LiveView {
  readonly name: string;
  readonly report: Report;
  readonly hosts: HostRow[];
  /** Not all records were read: hosts may have more of them than their rows have. */
  readonly isCut: boolean;
  readonly failed: Array<{ url: string; reason: string; atMs: number }>;
  readonly nextDueAt: number | undefined;
}

/** `score`: how well a host answers. */
export async function readLiveView(
  name: string,
  frontier: Watched,
  nowMs: number,
  score: (host: string) => number | undefined = () => undefined,
): Promise<LiveView> {
  const report = await frontier.report();
  const pending = new Map<string, number>();
  let readCount = 0;
  let isCut = false;
  for (const state of ["leased", "pending", "waiting"] as const) {
    for (const view of await readFirstRecords(frontier, state, RECORDS_MAX - readCount)) {
      const key = view.hostKey ?? view.host;
      if (key !== undefined) pending.set(key, (pending.get(key) ?? 0) + Number(state !== "leased"));
      isCut = ++readCount >= RECORDS_MAX || pending.size >= HOSTS_MAX;
      if (isCut) break;
    }
    if (isCut) break;
  }
  const failed: LiveView["failed"] = [];
  for (const { url = "", failure } of await readFirstRecords(frontier, "failed", FAILURES_MAX)) {
    failed.push({ url, reason: failure?.reason ?? "failed", atMs: failure?.atMs ?? 0 });
  }
  const hosts: HostRow[] = [];
  for (const [key, count] of pending) {
    hosts.push({ ...(await hostRow(frontier, key, count, nowMs)), score: score(key) });
  }
  const nextDueAt = await frontier.nextDueAt();
  return { name, report: { ...report }, hosts, isCut, failed, nextDueAt };
}

async function hostRow(
  frontier: Watched,
  key: string,
  pending: number,
  nowMs: number,
): Promise<Omit<HostRow, "score">> {
  const host = frontier.host(key);
  const { delayMs, readyAt, blockedUntil, held, failures, leased, limit } =
    "view" in host ? await host.view() : host;
  const why = held
    ? "held"
    : blockedUntil > nowMs
      ? "blocked"
      : readyAt > nowMs
        ? "delay"
        : leased >= limit
          ? "limit"
          : pending === 0
            ? "in process"
            : "ready";
  return { key, pending, leased, delayMs, readyAt, blockedUntil, held, failures, why };
}

function chosen(watched: Iterable<readonly [string, Watched]>, name: unknown): Watched {
  for (const [id, frontier] of watched) if (id === name) return frontier;
  throw new ActionError(
    `frontier: ${JSON.stringify(name)} (expected: one of those that are shown)`,
  );
}

export async function explainUrl(
  watched: Iterable<readonly [string, Watched]>,
  query: URLSearchParams,
): Promise<unknown> {
  const frontier = chosen(watched, query.get("frontier"));
  return await frontier.explain(query.get("url") ?? "");
}

/** Carries out the action of a button. */
export async function act(
  watched: Iterable<readonly [string, Watched]>,
  action: string,
  given: unknown,
): Promise<unknown> {
  const body =
    typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {};
  const frontier = chosen(watched, body.frontier);
  switch (action) {
    case "pause":
      await frontier.pause();
      break;
    case "resume":
      await frontier.resume();
      break;
    case "requeue":
      return { count: await frontier.requeue(requeueFilter(body)) };
    case "block":
      await frontier.host(textIn(body, "host")).blockUntil(numberIn(body, "untilMs"));
      break;
    case "delay": {
      const host = frontier.host(textIn(body, "host"));
      const delayMs = numberIn(body, "delayMs");
      if ("set" in host) await host.set({ delayMs });
      else host.delayMs = delayMs;
      break;
    }
    default:
      throw new ActionError(`action: ${action} (expected: pause, resume, block, delay or requeue)`);
  }
  return { done: true };
}

function requeueFilter(body: Record<string, unknown>): { all: true } | { host: string } {
  return body.host === undefined ? { all: true } : { host: textIn(body, "host") };
}

function textIn(body: Record<string, unknown>, name: string): string {
  const value = body[name];
  if (typeof value === "string" && value !== "") return value;
  throw new ActionError(`${name}: ${JSON.stringify(value)} (expected: a text)`);
}

function numberIn(body: Record<string, unknown>, name: string): number {
  const value = body[name];
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw new ActionError(`${name}: ${JSON.stringify(value)} (expected: a number of at least 0)`);
}
