/** Recovery from a standalone file (standalone-snapshot.ts): all of it, or an error that names the file and nothing. */
import { createReplay, type Replay } from "./entry-reader.ts";
import { replayFrame } from "./replay-journal.ts";
import type { Recovered, RecoveryOptions } from "./recover.ts";
import { createRestoration, type Restoration } from "./restore-records.ts";
import { placeRestored } from "./place-restored.ts";
import { STANDALONE_SERIAL } from "../snapshot/standalone-snapshot.ts";
import { loadSnapshot } from "./load-snapshot.ts";

/** Sections between two pauses. */
const SECTIONS_PER_PAUSE = 16;

/** Recovers the frontier that a file holds. Throws SNAPSHOT_CORRUPT, FORMAT_UNSUPPORTED or PROFILE_MISMATCH. */
export async function recoverStandalone(
  path: string,
  options: RecoveryOptions,
): Promise<Recovered> {
  const { place, profile, nowMs, onProgress } = options;
  let secret = new Uint32Array(4);
  let restoration: Restoration | undefined;
  let replay: Replay | undefined;
  let sections = 0;
  await loadSnapshot({
    ...{ place, path, profile, serial: STANDALONE_SERIAL, standalone: true },
    begin: (head) => {
      secret = Uint32Array.from(new Uint32Array(head.secret.slice().buffer));
      const { make } = options;
      restoration = createRestoration(make(secret), () => make(secret, true), nowMs);
      replay = createReplay(restoration);
      return restoration;
    },
    replay: (entries) => replayFrame(replay as Replay, entries, 0, entries.length),
    pause: (records, bytes, size) => {
      onProgress({ phase: "snapshot", records, bytes, size });
      return ++sections % SECTIONS_PER_PAUSE === 0 ? options.pause() : Promise.resolve();
    },
  });
  const whole = restoration as unknown as Restoration;
  placeRestored(whole, nowMs);
  const entries = (replay as unknown as Replay).entries;
  return {
    ...{ restoration: whole, secret, serial: 0, snapshot: 0, entries, damage: [] },
    lost: whole.volatileLive,
  };
}
