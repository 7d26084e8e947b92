/** NotedValues: what no transition logs, by name, as it was last written: only a value that changed is written again. */
import type { JournalLog } from "../../persistence/journal/journal-log.ts";
import { packState } from "../../persistence/msgpack.ts";
import type { EventHub } from "../event-hub.ts";

export class NotedValues {
  readonly bytes: Map<string, Uint8Array>;
  readonly #events: EventHub;

  constructor(bytes: ReadonlyMap<string, Uint8Array>, events: EventHub) {
    this.bytes = new Map(bytes);
    this.#events = events;
  }

  /** Writes the value to the log, unless it is as before. A value that cannot be written is a fault of the user's. */
  note(log: JournalLog, name: string, value: unknown): void {
    let bytes: Uint8Array;
    try {
      bytes = packState(value);
    } catch (cause) {
      this.#events.fault({ kind: "user", stage: name, cause });
      return;
    }
    const before = this.bytes.get(name);
    if (before !== undefined && Buffer.compare(before, bytes) === 0) return;
    this.bytes.set(name, bytes.slice());
    log.noteBytes(name, bytes);
  }
}
