/** Writes to the frame buffer which page the records that follow in the group were found on (layout/files/journal.ts). */
import { JOURNAL_PARENT, JOURNAL_PARENT_WORDS } from "../../layout/files/journal.ts";
import type { NamedParent } from "../../structures/records/entry-batch.ts";
import type { Store } from "../../structures/store.ts";
import { type FrameBuffer, frameRoom } from "./frame-buffer.ts";

/** Names a parent, unless the group named it last. @hot */
export function writeParent(
  store: Store,
  frames: FrameBuffer,
  named: NamedParent,
  parent: number,
): void {
  if (isNamed(store, named, parent)) return;
  const at = frameRoom(frames, JOURNAL_PARENT_WORDS);
  const { u32 } = frames;
  const source = store.region.views.u32;
  u32[at] = JOURNAL_PARENT;
  for (let i = 0; i < 4; i++) {
    named.print[i] = source[parent * 2 + 2 + i] as number;
    u32[at + 1 + i] = named.print[i] as number;
  }
  frames.end = at + JOURNAL_PARENT_WORDS;
  named.parent = parent;
}

/** An equal handle is no proof: a spilled child may have released it for reuse. @hot */
function isNamed(store: Store, named: NamedParent, parent: number): boolean {
  if (parent !== named.parent) return false;
  const source = store.region.views.u32;
  for (let i = 0; i < 4; i++) if (named.print[i] !== source[parent * 2 + 2 + i]) return false;
  return true;
}
