/**
 * A frontier in memory, to a file and from one: `snapshot({ path })` and the option `from`.
 *
 *   snapshot({ path }) ─▶ the frontier goes on meanwhile ─▶ <path>.tmp ─▶ synced, renamed ─▶ the frontier at that moment
 *   from: path, no directory ─▶ the file's frontier, in memory again, under the rules and options given now
 *   from: path, empty directory ─▶ the file becomes the directory's first generation, and the journal goes on from it
 */
import { FrontierError, frontierClosed } from "../base/errors.ts";
import type { Core } from "../frontier/core.ts";
import { diskFault, nodeFiles } from "../persistence/files.ts";
import { packState } from "../persistence/pack.ts";
import { contentOf } from "../persistence/place.ts";
import { recoverAlone } from "../persistence/recover-alone.ts";
import { writeAlone } from "../persistence/snapshot-alone.ts";
import { policyId } from "../url/policy.ts";
import type { SeedNotes } from "./seeds.ts";
import { notedCounters } from "./noted-counters.ts";
import { applyFound, type OpenParts, resumedOf, seededOf } from "./open-durable.ts";
import type { Settings } from "./options.ts";
import type { Runtime } from "./runtime.ts";
import type { Resumed, SnapshotInfo } from "./types.ts";

/** How often a snapshot begins again after something broke it. */
const TRIES = 8;

interface AloneParts {
  readonly settings: Settings;
  readonly path: string;
  /** The core of this moment; undefined: the frontier is closed. */
  readonly core: () => Core | undefined;
  readonly secret: Uint32Array;
  /** What no table holds, by name. */
  readonly notes: () => Record<string, unknown>;
}

/** Writes a frontier in memory to a file: as it is at the moment at which the last slice ends. */
export async function snapshotTo(parts: AloneParts): Promise<SnapshotInfo> {
  const { settings, path, secret } = parts;
  const { clock, files = nodeFiles } = settings;
  const identity = { secret, profile: policyId(settings.key) };
  for (let tries = 0; tries < TRIES; tries++) {
    const core = parts.core();
    if (core === undefined) throw frontierClosed();
    const done = await writeAlone({
      ...{ core, files, path, clock, identity, pause: turn },
      notes: () => packedNotes({ ...parts.notes(), counters: notedCounters(core) }),
      rows: settings.snapshotRows,
      isOver: () => parts.core() !== core,
    }).catch((error: unknown) => {
      throw diskFault(error, path);
    });
    if (done !== undefined) return { path: done.path, records: done.records, bytes: done.bytes };
  }
  const expected = "a moment without forget, clear or setRules";
  throw new FrontierError("STATE_INVALID", `snapshot: given up (expected: ${expected})`);
}

interface AloneOpening extends Omit<OpenParts, "make"> {
  /** An empty runtime under a secret. */
  readonly make: (secret: Uint32Array, isCleared: boolean) => Runtime;
}

interface OpenedAlone {
  readonly runtime: Runtime;
  readonly secret: Uint32Array;
  readonly resumed: Resumed;
  readonly seeded: SeedNotes;
}

/** A frontier in memory from a file; nothing of the file changes. */
export async function openAlone(parts: AloneOpening): Promise<OpenedAlone> {
  const { settings, make } = parts;
  const path = settings.from as string;
  const files = settings.files ?? nodeFiles;
  let runtime: Runtime | undefined;
  try {
    const found = await recoverAlone(path, {
      ...{ place: { files, directory: "" }, profile: policyId(settings.key) },
      nowMs: settings.clock.now(),
      make: (secret, isCleared = false) => {
        runtime = make(secret, isCleared);
        return runtime.core;
      },
      pause: turn,
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

/** The next turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
