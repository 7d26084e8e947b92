/**
 * A frontier on lmdb, written here: what one builds who wants a queue that survives the process and takes a good store for it.
 *
 *   seen       canonical URL → its sequence            one transaction for each call of push and of done
 *   pending    sequence → URL, in order
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadPackage, packageMissing, packageVersion } from "../installed.ts";
import type { Peer, PeerQueue } from "../peer.ts";

interface Store<K, V> {
  doesExist(key: K): boolean;
  putSync(key: K, value: V): boolean;
  removeSync(key: K): boolean;
  getRange(options: { start?: K; limit?: number; reverse?: boolean }): Iterable<Entry<K, V>>;
}

interface Entry<K, V> {
  readonly key: K;
  readonly value: V;
}

interface Root {
  openDB<K, V>(name: string, options: Record<string, unknown>): Store<K, V>;
  transactionSync<T>(work: () => T): T;
  close(): Promise<void>;
}

interface Lmdb {
  open(options: Record<string, unknown>): Root;
}

export const lmdbPeer: Peer = {
  name: "lmdb",
  title: () => `a frontier on lmdb ${packageVersion("lmdb")}, two tables`,
  missing: () => packageMissing("lmdb"),
  urlsMax: 1_000_000,
  isDurable: true,
  open: ({ directory }) => openLmdb(directory),
};

function openLmdb(directory: string | undefined): PeerQueue {
  const own = directory === undefined ? mkdtempSync(join(tmpdir(), "bench-lmdb-")) : undefined;
  const { open } = loadPackage("lmdb") as Lmdb;
  // Without a directory to keep, nothing needs to reach the disk.
  const path = join(directory ?? (own as string), "lmdb");
  const root = open({ path, noSync: own !== undefined });
  const seen = root.openDB<string, number>("seen", {});
  const pending = root.openDB<number, string>("pending", { keyEncoding: "uint32" });
  let next = last(pending);
  let cursor = 0;
  const queue: PeerQueue<Entry<number, string>> = {
    push(urls) {
      return root.transactionSync(() => {
        const before = next;
        for (const text of urls) {
          const url = canonicalOf(text);
          if (url === undefined || seen.doesExist(url)) continue;
          seen.putSync(url, ++next);
          pending.putSync(next, url);
        }
        return next - before;
      });
    },
    poll(max) {
      const entries = [...pending.getRange({ start: cursor, limit: max })];
      cursor = (entries.at(-1)?.key ?? cursor) + 1;
      return entries;
    },
    urlOf: ({ value }) => value,
    done(entries) {
      root.transactionSync(() => {
        for (const { key } of entries) pending.removeSync(key);
      });
    },
    async close() {
      await root.close();
      if (own !== undefined) rmSync(own, { recursive: true });
    },
  };
  return queue as PeerQueue;
}

function last(pending: Store<number, string>): number {
  for (const { key } of pending.getRange({ reverse: true, limit: 1 })) return key;
  return 0;
}

function canonicalOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  url.hash = "";
  url.searchParams.sort();
  return url.href;
}
