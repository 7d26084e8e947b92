/** A thread of one's own at a shared frontier: pushes, works until the frontier is finished, and posts what it was given. */
import { parentPort, workerData } from "node:worker_threads";
import { settle, urlOfPage } from "./visit.mjs";

const { attach } = await import(workerData.worker);
const port = attach(workerData.handle);
const said = port.push(["no url", ...Array.from({ length: 30 }, (_, at) => urlOfPage(at * 13))]);
const urls = [];
for (;;) {
  const leases = await port.take({ max: 5 });
  if (leases.length === 0) break;
  for (const lease of leases) {
    urls.push(`${lease.url} ${lease.attempt} ${lease.deliveries} ${lease.rule} ${lease.host}`);
    settle(lease, (links) => port.push(links));
  }
}
await port.close();
parentPort.postMessage({ said: said.map((one) => (one === "duplicate" ? "queued" : one)), urls });
