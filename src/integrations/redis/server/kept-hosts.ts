/** `clear`, and what of hosts outlives it: read before, and written in the same step (lua/hosts-16.lua). */
import { unpacked } from "./packing.ts";
import type { ServerLink } from "./server-link.ts";

/** Hosts of one script call. */
const SLICE = 256;

/** Forgets everything of a partition in one step of the server, which others that work on it meanwhile do not notice. */
export async function clearPartition(link: ServerLink, partition: number): Promise<void> {
  const hosts = await readKeptHosts(link, partition);
  const run = async (what: string, from: number): Promise<void> => {
    const slice = hosts.slice(from, from + SLICE);
    await link.run("hosts", partition, [what, link.batch(), ...slice]);
  };
  await run("clear", 0);
  for (let from = SLICE; from < hosts.length; from += SLICE) await run("write", from);
}

/** Hosts of a partition, in the order in which they join: never leased, then least recently leased. */
async function readKeptHosts(link: ServerLink, partition: number): Promise<Buffer[]> {
  const hosts: Array<{ bytes: Buffer; turn: number; joined: number }> = [];
  const argsAt = (cursor: string) => ["read", cursor, String(SLICE)];
  for await (const answer of link.slices("hosts", partition, argsAt)) {
    for (const bytes of answer.slice(2) as Buffer[]) {
      const [, turn, joined] = unpacked(bytes) as [Buffer, number, number];
      hosts.push({ bytes, turn, joined });
    }
  }
  hosts.sort((a, b) => a.turn - b.turn || a.joined - b.joined);
  return hosts.map(({ bytes }) => bytes);
}
