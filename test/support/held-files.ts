/** Files in memory whose syncs beside the thread take as long as a test wants. */
import type { Files } from "../../src/persistence/files.ts";
import { createMemoryFiles, type MemoryFiles } from "./memory-files.ts";

export interface HeldFiles {
  readonly files: MemoryFiles;
  /** Ends the syncs under way, all of them with an error if there is one. */
  end(error?: Error): void;
}

/** Files whose syncs beside the thread end when a test wants it. */
export function heldFiles(): HeldFiles {
  const files = createMemoryFiles();
  const held: Array<(error: Error | undefined) => void> = [];
  const syncLater: Files["syncLater"] = (file, done) => {
    held.push((error) => {
      if (error === undefined) files.sync(file);
      done(error);
    });
  };
  return {
    files: Object.assign(files, { syncLater }),
    end: (error) => held.splice(0).forEach((end) => end(error)),
  };
}
