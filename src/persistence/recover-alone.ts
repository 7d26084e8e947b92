/** Recovery from a file that stands alone (snapshot-alone.ts): whole, or an error by name and nothing. */
import { createReplay, type Replay } from "./replay-cursor.ts";
import { replayFrame } from "./replay.ts";
import type { Recovered, RecoveryOptions } from "./recover.ts";
import { createRevival, type Revival } from "./revive.ts";
import { settleRevived } from "./settle.ts";
import { ALONE_SERIAL } from "./snapshot-alone.ts";
import { loadSnapshot } from "./snapshot-read.ts";

/** Sections between two pauses. */
const SECTIONS_PER_PAUSE = 16;

/** The frontier that a file holds; throws SNAPSHOT_CORRUPT, FORMAT_UNSUPPORTED or PROFILE_MISMATCH. */
export async function recoverAlone(path: string, options: RecoveryOptions): Promise<Recovered> {
  const { place, profile, nowMs, onProgress } = options;
  let secret = new Uint32Array(4);
  let revival: Revival | undefined;
  let replay: Replay | undefined;
  let sections = 0;
  await loadSnapshot({
    ...{ place, path, profile, serial: ALONE_SERIAL, alone: true },
    begin: (head) => {
      secret = Uint32Array.from(new Uint32Array(head.secret.slice().buffer));
      revival = createRevival(options.make(secret), () => options.make(secret, true));
      replay = createReplay(revival);
      return revival;
    },
    replay: (entries) => replayFrame(replay as Replay, entries, 0, entries.length),
    pause: (records, bytes, size) => {
      onProgress({ phase: "snapshot", records, bytes, size });
      return ++sections % SECTIONS_PER_PAUSE === 0 ? options.pause() : Promise.resolve();
    },
  });
  const whole = revival as unknown as Revival;
  settleRevived(whole, nowMs);
  const entries = (replay as unknown as Replay).entries;
  return {
    ...{ revival: whole, secret, serial: 0, snapshot: 0, entries, damage: [] },
    lost: whole.volatileLive,
  };
}
