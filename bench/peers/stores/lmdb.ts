/** A list on lmdb: a sequence for each URL. A call is one transaction, synced when it returns. */
import { join } from "node:path";
import { loadPackage } from "../installed.ts";

interface Entry {
  readonly key: number;
  readonly value: string;
}

interface Store {
  putSync(key: number, value: string): boolean;
  removeSync(key: number): boolean;
  getRange(options: { limit: number }): Iterable<Entry>;
}

interface Root extends Store {
  transactionSync(work: () => void): void;
  close(): Promise<void>;
}

interface Lmdb {
  open(options: Record<string, unknown>): Root;
}

export interface LmdbList {
  push(urls: readonly string[]): void;
  take(max: number): string[];
  close(): Promise<void>;
}

/** Opens an empty list, or one that is only taken from. */
export function openLmdbList(directory: string): LmdbList {
  const { open } = loadPackage("lmdb") as Lmdb;
  const root = open({ path: join(directory, "lmdb"), keyEncoding: "uint32" });
  let next = 0;
  return {
    push(urls) {
      root.transactionSync(() => {
        for (const url of urls) root.putSync(++next, url);
      });
    },
    take(max) {
      const entries = [...root.getRange({ limit: max })];
      root.transactionSync(() => {
        for (const { key } of entries) root.removeSync(key);
      });
      return entries.map(({ value }) => value);
    },
    close: () => root.close(),
  };
}
