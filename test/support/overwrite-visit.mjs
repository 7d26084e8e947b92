/** A handler that writes over the memory that its thread shares with the owner: what `workerData` names, once for each URL /bad. */
import { workerData } from "node:worker_threads";

const { memory, ways, cursors } = workerData;
const bytes = new Uint8Array(memory);
const words = new Int32Array(memory);

export default async function visit(lease) {
  const { pathname, searchParams } = new URL(lease.url);
  if (pathname !== "/bad") return;
  // Results of pages before it that the owner has not read yet would be lost with the ring: those were begun, and would count as attempts.
  while (Atomics.load(words, cursors[0]) !== Atomics.load(words, cursors[1])) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { fills = [], stores = [] } = ways[Number(searchParams.get("way"))];
  for (const { from, to, byte } of fills) {
    // A step that shares no factor with 256 has every byte; `byte` alone writes one.
    for (let at = from; at < to; at++)
      bytes[at] = byte === undefined ? (at * 167 + 13) & 255 : byte;
  }
  for (const [word, value] of stores) Atomics.store(words, word, value);
  await new Promise(() => {});
}
