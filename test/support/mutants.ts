/**
 * Broken copies of the naive model: one line of its source changed, the copy loaded from a folder
 * of its own. They prove what the programs can detect: a fault that no program finds in the model
 * would not be found in the engine either.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Open } from "./duel.ts";

export interface Mutant {
  /** The fault, as the title of a test. */
  fault: string;
  file: string;
  from: string;
  to: string;
}

const HERE = fileURLToPath(new URL(".", import.meta.url));
const SOURCE = pathToFileURL(fileURLToPath(new URL("../../src/", import.meta.url))).href;

/** Loads the broken copy, passes it to `use`, and removes it afterwards. */
export async function withMutant<T>(mutant: Mutant, use: (open: Open) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "model-mutant-"));
  try {
    for (const file of readdirSync(HERE).filter((name) => /^(model-|frontier-)/.test(name))) {
      const text = readFileSync(join(HERE, file), "utf8");
      const copy = file === mutant.file ? mutate(text, mutant) : text;
      writeFileSync(join(folder, file), copy.replaceAll('"../../src/', `"${SOURCE}`));
    }
    const entry = pathToFileURL(join(folder, "model-frontier.ts")).href;
    const loaded: { createModelFrontier: Open } = await import(entry);
    return await use(loaded.createModelFrontier);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function mutate(text: string, { fault, from, to }: Mutant): string {
  if (text.split(from).length !== 2) throw new Error(`${fault}: "${from}" is not there just once`);
  return text.replace(from, to);
}
