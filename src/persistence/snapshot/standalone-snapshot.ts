/**
 * A standalone snapshot: a frontier in memory written to one file (docs/formats/snapshot.md).
 *
 *   log attached ─▶ head ─▶ copies, slice by slice ─▶ end          the frontier goes on, and the log records it
 *                     └ transitions between two slices follow as entries ┘
 *
 *   I1  The log is attached from the head to the last copy. The copies and the entries together are the frontier at the end
 *       of the writing, by the argument that holds for journal and snapshot.
 *   I2  A host that existed before, and that the log has not named yet, is logged with all its fields: its copy may be older or newer.
 *   I3  The log is detached in every case.
 */
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Core } from "../../frontier/core.ts";
import { listRecords } from "../../frontier/records/record-walk.ts";
import {
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_VOLATILE,
  recordFlags,
  recordHi,
  recordLo,
} from "../../structures/records/record.ts";
import { seenFind } from "../../structures/seen/seen-set.ts";
import { JOURNAL_HEADER_BYTES } from "../../layout/files/journal.ts";
import type { Files } from "../files.ts";
import { JournalLog } from "../journal/journal-log.ts";
import { createNames, type Names, nameRecord } from "../journal/nameless-records.ts";
import type { Identity } from "../directory/frontier-directory.ts";
import { snapshotHead } from "./snapshot-head.ts";
import { createSnapshotBuffers } from "./snapshot-buffers.ts";
import { type SnapshotDone, writeSnapshot } from "./write-snapshot.ts";
import {
  createFrameBuffer,
  sealableBytes,
  reuseFrame,
  takeFrame,
} from "../journal/frame-buffer.ts";

/** The serial of a standalone file: the first generation of any directory that it becomes. */
export const STANDALONE_SERIAL = 1;

interface StandaloneSource {
  readonly core: Core;
  readonly files: Files;
  readonly path: string;
  readonly clock: Clock;
  readonly identity: Identity;
  /** Current state that no table holds: packed, by name. */
  readonly notes: () => ReadonlyMap<string, Uint8Array>;
  readonly rows?: number | undefined;
  /** True when the frontier is closed or has another core. */
  readonly isOver: () => boolean;
  readonly pause: () => Promise<void>;
}

/** Writes the file. Returns undefined when a change interrupted it and it must begin again. Throws the disk's error. */
export async function writeStandalone(source: StandaloneSource): Promise<SnapshotDone | undefined> {
  const { core, clock, files, path } = source;
  const frames = createFrameBuffer();
  const names = namesOf(core);
  let isBroken = false;
  const log = new JournalLog({
    ...{ core, names, frames, isLate: true },
    onGroup: () => {},
    onBreak: () => {
      isBroken = true;
    },
  });
  log.specsNoted = core.specs; // the head states what the indices mean
  const { identity, notes } = source;
  const head = snapshotHead(core, {
    ...{ serial: STANDALONE_SERIAL, identity, notes: notes(), savedAt: clock.now() },
    ...{ volatileLive: 0, standalone: true },
  });
  const sealed: Uint8Array[] = [];
  core.log = log;
  try {
    return await writeSnapshot({
      ...{ core, names, clock, head, path, rows: source.rows, pause: source.pause },
      room: createSnapshotBuffers(core),
      place: { files, directory: dirname(path) },
      isOver: () => isBroken || source.isOver(),
      tail: (isLast) => {
        if (isLast) for (const [name, value] of notes()) log.noteBytes(name, value);
        for (const frame of sealed.splice(0)) reuseFrame(frames, frame);
        log.end();
        if (sealableBytes(frames) > 0) sealed.push(takeFrame(frames));
        return sealed;
      },
      position: () => ({ segment: STANDALONE_SERIAL, offset: JOURNAL_HEADER_BYTES }),
      flush: () => Promise.resolve(),
    });
  } finally {
    core.log = undefined;
  }
}

/**
 * A frontier in memory names no records by itself: every record without identity gets a name now. All live records are scanned for that
 * in one go, unless every record has an identity of its own.
 */
function namesOf(core: Core): Names {
  const names = createNames(core);
  const { accepted, deferred, seen } = core.counters;
  if (accepted + deferred === seen && core.seen.bloom === undefined) return names;
  const { handles, count } = listRecords(core, new Set(["pending", "waiting", "leased", "failed"]));
  for (let index = 0; index < count; index++) {
    const record = handles[index] as number;
    const flags = recordFlags(core.store, record);
    if ((flags & RECORD_FLAG_VOLATILE) !== 0) continue;
    if ((flags & RECORD_FLAG_NO_IDENTITY) === 0 && ownsIdentity(core, record)) continue;
    nameRecord(names, record);
  }
  return names;
}

function ownsIdentity(core: Core, record: number): boolean {
  const { store } = core;
  return seenFind(core.seen, recordLo(store, record), recordHi(store, record)) === record;
}
