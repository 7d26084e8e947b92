/** What of hosts outlives a `clear`, read before the partitions are made anew and written after (lua/hosts-16.lua). */
import { unpacked } from "./packing.ts";
import type { ServerLink } from "./server-link.ts";

/** Hosts of one script call. */
const SLICE = 256;

/** Hosts of a partition, in the order in which they join: never leased, then least recently leased. */
export async function readKeptHosts(link: ServerLink, partition: number): Promise<Buffer[]> {
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

export async function writeKeptHosts(
  link: ServerLink,
  partition: number,
  hosts: readonly Buffer[],
): Promise<void> {
  for (let at = 0; at < hosts.length; at += SLICE)
    await link.run("hosts", partition, ["write", ...hosts.slice(at, at + SLICE)]);
}
