/**
 * How visits of worker threads end that are to be tried again: whether there is another attempt is decided by the frontier, and no worker
 * learns of it.
 *
 *   worker ── visit, `retried` ─▶ its lease has ended? ─ yes ─▶ reported, by the state of its record
 *                                     └─ no ─▶ waits ── event retried | failed ─▶ reported, by that
 *
 *   I1  Each visit is reported once; one without an answer from the owner is reported at the end, as it came.
 */
import type { Frontier } from "../../index.ts";
import type { Visit } from "../report/visit-statistics.ts";

export interface RetriedVisits {
  /** Reports a visit, now or when it is known how it ended. */
  take(visit: Visit, deliveries: number): void;
  /** Reports the rest, and takes its listeners away. */
  close(): void;
}

export function createRetriedVisits(
  frontier: Pick<Frontier, "on" | "record">,
  tell: (visit: Visit) => void,
): RetriedVisits {
  const waiting = new Map<string, Visit>();
  const told = (url: string, outcome?: "failed"): void => {
    const visit = waiting.get(url);
    if (visit === undefined) return;
    waiting.delete(url);
    tell(outcome === undefined ? visit : { ...visit, outcome });
  };
  const leave = [
    frontier.on("retried", (views) => {
      for (const { url } of views) told(url);
    }),
    frontier.on("failed", (views) => {
      for (const { url } of views) told(url, "failed");
    }),
  ];
  return {
    take(visit, deliveries) {
      const { url } = visit;
      told(url);
      waiting.set(url, visit);
      const record = frontier.record(url);
      if (record?.state === "leased" && record.deliveries === deliveries) return;
      told(url, record?.state === "failed" ? "failed" : undefined);
    },
    close() {
      for (const off of leave) off();
      for (const url of [...waiting.keys()]) told(url);
    },
  };
}
