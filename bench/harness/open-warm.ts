/**
 * What is measured is opened beside others of its kind that were driven before, so that compilers have done their work.
 *
 * The others stay open until then: V8 discards compiled code with the last object of a shape that it was compiled for, and most of it
 * when the second frontier of a process opens (docs/decisions/0015).
 */

const WARM_COUNT = 2;

interface Closed {
  close(): unknown;
}

/** `warm` opens one to be thrown away, and drives it. */
export async function openWarm<T>(warm: () => Promise<Closed>, open: () => Promise<T>): Promise<T> {
  const others: Closed[] = [];
  for (let at = 0; at < WARM_COUNT; at++) others.push(await warm());
  const opened = await open();
  for (const other of others) await other.close();
  return opened;
}
