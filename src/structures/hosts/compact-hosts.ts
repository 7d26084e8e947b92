/**
 * Idle hosts and their names, moved together: where what stood beside them has left, they would keep their pages.
 *
 *   I1  The order of the idle list stays, and all that a host is, but for its handle. So nothing may hold the handle of an idle host
 *       meanwhile; one that has queues, groups or a clock stays where it is.
 */
import { HOST_GROUPS_WORD } from "../../layout/records/host.ts";
import { compact, openCompaction } from "../../memory/compaction.ts";
import { setWord, type Store, word } from "../store.ts";
import { tableFind } from "../table/fingerprint-table.ts";
import {
  HOST_CLOCKED,
  HOST_HASH_HI_WORD,
  HOST_HASH_LO_WORD,
  HOST_NAME_BYTES_WORD,
  HOST_NAME_WORD,
  HOST_QUEUES_WORD,
  HOST_SIZE_BYTES,
  hostFlag,
  hostNextIdle,
  type HostTable,
} from "./host-table.ts";

/** O(idle hosts). */
export function compactIdleHosts(table: HostTable): void {
  const { store } = table;
  const compaction = openCompaction(store.arena);
  for (let host = hostNextIdle(table, 0); host !== 0; host = hostNextIdle(table, host)) {
    if (!isMovable(store, host)) continue;
    const moved = compact(compaction, host, HOST_SIZE_BYTES);
    if (moved !== host) follow(table, moved);
    host = moved;
    const name = word(store, host, HOST_NAME_WORD);
    const bytes = Math.max(word(store, host, HOST_NAME_BYTES_WORD), 1);
    setWord(store, host, HOST_NAME_WORD, compact(compaction, name, bytes));
  }
}

function isMovable(store: Store, host: number): boolean {
  if (word(store, host, HOST_QUEUES_WORD) + word(store, host, HOST_GROUPS_WORD) > 0) return false;
  return !hostFlag(store, host, HOST_CLOCKED);
}

/** The idle list and the index name a host where it is now. */
function follow(table: HostTable, host: number): void {
  const { store } = table;
  const { u32 } = store.region.views;
  const next = u32[host * 2] as number;
  const previous = u32[host * 2 + 1] as number;
  if (previous === 0) table.idleFirst = host;
  else u32[previous * 2] = host;
  if (next === 0) table.idleLast = host;
  else u32[next * 2 + 1] = host;
  const lo = word(store, host, HOST_HASH_LO_WORD);
  const slot = tableFind(table.index, lo, word(store, host, HOST_HASH_HI_WORD));
  u32[slot >>> 2] = host;
}
