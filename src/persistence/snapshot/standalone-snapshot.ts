/**
 * A standalone snapshot: of a frontier in memory, to a file, and from one (docs/formats/snapshot.md).
 *
 *   log attached ─▶ head ─▶ copies, slice by slice ─▶ end          the frontier goes on, and the log hears it
 *                     └ what was said between two slices follows as entries ┘
 *
 *   I1  The log is heard from the moment of the head to the last copy, so the copies and the entries together are the
 *       frontier at the end of the writing, by the argument that holds for journal and snapshot.
 *   I2  A host made before that the log has not named yet comes with all that it is: its copy may be older or newer.
 *   I3  Nothing stays behind: the log is taken off whatever happens.
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

/** The serial of a file that stands alone: the first generation of any directory that it becomes. */
export const STANDALONE_SERIAL = 1;

interface StandaloneSource {
  readonly core: Core;
  readonly files: Files;
  readonly path: string;
  readonly clock: Clock;
  readonly identity: Identity;
  /** What no table holds, as it is now: packed, by name. */
  readonly notes: () => ReadonlyMap<string, Uint8Array>;
  readonly rows?: number | undefined;
  /** The frontier is closed, or has another core. */
  readonly isOver: () => boolean;
  readonly pause: () => Promise<void>;
}

/** Writes the file; undefined: something broke it, and it has to begin anew. Throws what the disk said. */
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
  log.specsNoted = core.specs; // the head says what the indices mean
  const { identity, notes } = source;
  const head = snapshotHead(core, {
    ...{ serial: STANDALONE_SERIAL, identity, notes: notes(), savedAt: clock.now() },
    ...{ volatileLive: 0, standalone: true },
  });
  const said: Uint8Array[] = [];
  core.log = log;
  try {
    return await writeSnapshot({
      ...{ core, names, clock, head, path, rows: source.rows, pause: source.pause },
      room: createSnapshotBuffers(core),
      place: { files, directory: dirname(path) },
      isOver: () => isBroken || source.isOver(),
      tail: (isLast) => {
        if (isLast) for (const [name, value] of notes()) log.noteBytes(name, value);
        for (const frame of said.splice(0)) reuseFrame(frames, frame);
        log.end();
        if (sealableBytes(frames) > 0) said.push(takeFrame(frames));
        return said;
      },
      position: () => ({ segment: STANDALONE_SERIAL, offset: JOURNAL_HEADER_BYTES }),
      flush: () => Promise.resolve(),
    });
  } finally {
    core.log = undefined;
  }
}

/**
 * A memory gives no names by itself: what lives without identity gets one now. All live ones are looked through for that,
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
