/**
 * Room for what is inflated: one bound over all visits of a thread. A page's is released once it is inflated; a sitemap's, which may be
 * fifty times as long as a page, once it was read.
 *
 *   take ─▶ fits beside what is held, or nothing is held ─ yes ─▶ held until it is released
 *                              └─ no ─▶ waits, first come, first served
 *
 *   I1  What is held is at most `maxBytes`, unless one taker alone needs more.
 *   I2  A share that holds room does not wait for more, so no two wait for each other.
 */

/** One taker's part of the room. */
export interface RoomShare {
  /** Resolves when the bytes are held; at once where the share holds some already. Rejects when `signal` fires. */
  take(bytes: number, signal?: AbortSignal): Promise<void>;
  /** Releases all of it; the share can take again. */
  end(): void;
}

export type InflateRoom = ReturnType<typeof createInflateRoom>;

/** The bound: room for a sitemap of the largest size and some pages. */
export const INFLATE_ROOM_BYTES = 64 * 1024 * 1024;

interface Waiting {
  readonly bytes: number;
  enter(): void;
}

export function createInflateRoom(maxBytes: number = INFLATE_ROOM_BYTES) {
  const waiting: Waiting[] = [];
  let heldBytes = 0;
  const admit = (): void => {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      if (heldBytes > 0 && heldBytes + first.bytes > maxBytes) return;
      waiting.shift();
      heldBytes += first.bytes;
      first.enter();
    }
  };
  const enter = (bytes: number, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const one: Waiting = {
        bytes,
        enter() {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      const leave = (): void => {
        const at = waiting.indexOf(one);
        if (at >= 0) waiting.splice(at, 1);
        reject(signal?.reason);
        admit();
      };
      if (signal?.aborted === true) return reject(signal.reason);
      signal?.addEventListener("abort", leave, { once: true });
      waiting.push(one);
      admit();
    });
  return {
    get heldBytes(): number {
      return heldBytes;
    },
    share(): RoomShare {
      let held = 0;
      return {
        async take(bytes, signal) {
          if (held > 0 || bytes <= 0) return;
          await enter(bytes, signal);
          held = bytes;
        },
        end() {
          heldBytes -= held;
          held = 0;
          admit();
        },
      };
    },
  };
}
