/**
 * RecordTier on lmdb: one file with keys of eight bytes (hi, lo, big-endian) and packed records.
 *
 * Loaded by name, and only by a frontier with `records: 'full'`; lmdb is an optional peer dependency.
 */
import { open } from "lmdb";
import type { OpenRecordTier, RecordTier } from "../../persistence/tier.ts";

/** Opens the file at `path`. A missing file is created, unless the tier is read-only. */
export const openRecordTier: OpenRecordTier = (path, isReadOnly = false): RecordTier => {
  const db = open<Buffer, Buffer>({
    ...{ path, noSubdir: true, encoding: "binary", keyEncoding: "binary" },
    ...{ compression: false, cache: false, readOnly: isReadOnly },
  });
  return {
    get: (lo, hi) => db.get(keyOf(lo, hi)),
    apply(changes) {
      db.transactionSync(() => {
        for (const { lo, hi, bytes } of changes) {
          if (bytes === undefined) db.removeSync(keyOf(lo, hi));
          else db.putSync(keyOf(lo, hi), Buffer.from(bytes));
        }
      });
    },
    *each() {
      for (const { key, value } of db.getRange({ snapshot: false })) {
        yield { lo: key.readUInt32BE(4), hi: key.readUInt32BE(0), bytes: value };
      }
    },
    clear: () => db.clearSync(),
    flushed: async () => {
      await db.flushed;
    },
    close: () => db.close(),
  };
};

function keyOf(lo: number, hi: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  key.writeUInt32BE(hi >>> 0, 0);
  key.writeUInt32BE(lo >>> 0, 4);
  return key;
}
