/**
 * A frontier in memory, to a file and from one: `snapshot({ path })` and the option `from`.
 *
 *   snapshot({ path }) ─▶ the frontier goes on meanwhile ─▶ <path>.tmp ─▶ synced, renamed ─▶ the frontier at that moment
 *   from: path, no directory ─▶ the file's frontier, in memory again, under the rules and options given now
 *   from: path, empty directory ─▶ the file becomes the directory's first generation, and the journal goes on from it
 */
import { FrontierError, frontierClosed } from "../../base/errors.ts";
import type { Core } from "../../frontier/core.ts";
import { diskFault, nodeFiles } from "../../persistence/files.ts";
import { packState } from "../../persistence/msgpack.ts";
import { contentOf } from "../../persistence/directory/frontier-directory.ts";
import { recoverStandalone } from "../../persistence/recovery/recover-standalone.ts";
import { writeStandalone } from "../../persistence/snapshot/standalone-snapshot.ts";
import { policyId } from "../../url/keys/key-policy.ts";
import { storedCounters } from "./stored-counters.ts";
import { applyFound, type OpenParts, resumedOf, seededOf } from "./open-directory.ts";
import { nextTurn } from "../next-turn.ts";
import type { Settings } from "../options/normalize-options.ts";
import type { FailureNotes } from "../records/failure-notes.ts";
import type { Runtime } from "../runtime.ts";
import type { SnapshotInfo } from "../types/frontier-types.ts";

/** How often a snapshot begins again after something broke it. */
const TRIES = 8;

interface MemorySnapshotParts {
  readonly settings: Settings;
  readonly path: string;
  /** The core of this moment; undefined: the frontier is closed. */
  readonly core: () => Core | undefined;
  readonly secret: Uint32Array;
  readonly failures: FailureNotes;
  /** What no table holds, by name. */
  readonly notes: () => Record<string, unknown>;
}

/** Writes a frontier in memory to a file: as it is at the moment at which the last slice ends. */
export async function snapshotToFile(parts: MemorySnapshotParts): Promise<SnapshotInfo> {
  const { settings, path, secret } = parts;
  const { clock, files = nodeFiles } = settings;
  const identity = { secret, profile: policyId(settings.key) };
  for (let tries = 0; tries < TRIES; tries++) {
    const core = parts.core();
    if (core === undefined) throw frontierClosed();
    const done = await writeStandalone({
      ...{ core, files, path, clock, identity, pause: nextTurn },
      notes: () => {
        const notes = packedNotes({ ...parts.notes(), counters: storedCounters(core) });
        for (const [name, value] of parts.failures.stored()) notes.set(name, value);
        return notes;
      },
      rows: settings.snapshotRows,
      isOver: () => parts.core() !== core,
    }).catch((error: unknown) => {
      throw diskFault(error, path);
    });
    if (done !== undefined) return { path: done.path, records: done.records, bytes: done.bytes };
  }
  const what = `interrupted ${TRIES} times by forget, clear or setRules`;
  const message = `snapshot: ${what} (expected: a quiet moment; call it again)`;
  throw new FrontierError("STATE_INVALID", message);
}

interface MemoryOpening extends Omit<OpenParts, "make"> {
  /** An empty runtime under a secret. */
  readonly make: (secret: Uint32Array, isCleared: boolean) => Runtime;
}

/** A frontier in memory from a file; nothing of the file changes. */
export async function openFromFile(parts: MemoryOpening) {
  const { settings, make } = parts;
  const path = settings.from as string;
  const files = settings.files ?? nodeFiles;
  let runtime: Runtime | undefined;
  try {
    const found = await recoverStandalone(path, {
      ...{ place: { files, directory: "" }, profile: policyId(settings.key) },
      nowMs: settings.clock.now(),
      make: (secret, isCleared = false) => {
        runtime = make(secret, isCleared);
        return runtime.core;
      },
      pause: nextTurn,
      onProgress: (progress) => settings.onProgress?.(progress),
    });
    const { core } = runtime as unknown as Runtime;
    const seeded = contentOf(path, 0, () => {
      applyFound(parts, core, found);
      return seededOf(found);
    });
    return {
      ...{ runtime: runtime as unknown as Runtime, secret: found.secret },
      ...{ resumed: resumedOf(core, found), seeded },
    };
  } catch (error) {
    const isDisk = typeof (error as NodeJS.ErrnoException).syscall === "string";
    throw isDisk ? diskFault(error, path) : error;
  }
}

function packedNotes(notes: Record<string, unknown>): Map<string, Uint8Array> {
  return new Map(
    Object.entries(notes).map(([name, value]) => [name, Uint8Array.from(packState(value))]),
  );
}
