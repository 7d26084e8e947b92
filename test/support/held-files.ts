/** Files in memory whose syncs beside the thread take as long as a test wants. */
import type { Files } from "../../src/persistence/files.ts";
import { createMemoryFiles, type MemoryFiles } from "./memory-files.ts";

export interface HeldFiles {
  readonly files: MemoryFiles;
  /** False: syncs end at once. */
  isHolding: boolean;
  /** Ends the syncs under way, all of them with an error if there is one. */
  end(error?: Error): void;
}

/** Files whose syncs beside the thread end when a test wants it. */
export function heldFiles(): HeldFiles {
  const files = createMemoryFiles();
  const held: Array<(error: Error | undefined) => void> = [];
  const all: HeldFiles = {
    files,
    isHolding: true,
    end(error) {
      for (const end of held.splice(0)) end(error);
    },
  };
  const syncLater: Files["syncLater"] = (file, done) => {
    held.push((error) => {
      if (error === undefined) files.sync(file);
      done(error);
    });
    if (!all.isHolding) all.end();
  };
  Object.assign(files, { syncLater });
  return all;
}
