/**
 * The ends of visits on worker threads that ask for a retry: the frontier decides whether there is another attempt, and does not inform
 * the worker.
 *
 *   worker ── visit, `retried` ─▶ its lease has ended? ─ yes ─▶ reported, by the state of its record
 *                                     └─ no ─▶ waits ── event retried | failed ─▶ reported, by that
 *
 *   I1  Each visit is reported once; one without an answer from the owner is reported at the end, as it came.
 *   I2  What becomes of one hand-out is the end of its own visit alone: messages of several workers may come in any order.
 */
import type { Frontier } from "../../index.ts";
import type { Visit } from "../report/visit-statistics.ts";

export type RetriedVisits = ReturnType<typeof createRetriedVisits>;

export function createRetriedVisits(
  frontier: Pick<Frontier, "on" | "record">,
  report: (visit: Visit) => void,
) {
  const waiting = new Map<string, { visit: Visit; deliveries: number }>();
  const settle = (url: string, failedAt?: number): void => {
    const waits = waiting.get(url);
    if (waits === undefined) return;
    waiting.delete(url);
    const { visit, deliveries } = waits;
    report(deliveries === failedAt ? { ...visit, outcome: "failed" } : visit);
  };
  const leave = [
    frontier.on("retried", (views) => {
      for (const { url } of views) settle(url);
    }),
    frontier.on("failed", (views) => {
      for (const { url, deliveries } of views) settle(url, deliveries);
    }),
  ];
  return {
    /** Reports a visit, now or when it is known how it ended. */
    take(visit: Visit, deliveries: number): void {
      const { url } = visit;
      const record = frontier.record(url);
      // A record that was handed out since then was retried, whatever it is now.
      const isSame = record?.deliveries === deliveries;
      if (isSame && record.state === "leased") {
        settle(url);
        waiting.set(url, { visit, deliveries });
      } else report(isSame && record.state === "failed" ? { ...visit, outcome: "failed" } : visit);
    },
    /** Reports the rest, and takes its listeners away. */
    close(): void {
      for (const off of leave) off();
      for (const url of [...waiting.keys()]) settle(url);
    },
  };
}
