/**
 * The structures as one object, so that the same programs run against the real modules and against deliberately broken copies. A copy is
 * the transpiled source with one edit, in a temporary folder.
 */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";
import type * as arena from "../../src/memory/arena.ts";
import type * as arenaVerify from "../../src/memory/verify-arena.ts";
import type * as region from "../../src/memory/region.ts";
import type * as heap from "../../src/structures/ordering/heap.ts";
import type * as lane from "../../src/structures/ordering/lane.ts";
import type * as ranks from "../../src/structures/ordering/ranks.ts";
import type * as treap from "../../src/structures/ordering/treap.ts";

export type StructuresApi = typeof arena &
  typeof arenaVerify &
  typeof region &
  typeof heap &
  typeof lane &
  typeof ranks &
  typeof treap;

const ROOMS = ["layout", "base", "memory", "structures"];
const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));
export const MODULES = [
  "memory/region",
  "memory/arena",
  "memory/verify-arena",
  "structures/ordering/treap",
  "structures/ordering/lane",
  "structures/ordering/ranks",
  "structures/ordering/heap",
];

export interface Edit {
  /** File below src, without its ending. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

let whole: string | undefined;

/** The structures with one edit; the text to replace must occur exactly once. */
export async function loadBroken(edit: Edit): Promise<StructuresApi> {
  whole ??= transpileAll();
  const folder = mkdtempSync(join(tmpdir(), "structures-"));
  cpSync(whole, folder, { recursive: true });
  const source = readFileSync(join(SOURCE, `${edit.file}.ts`), "utf8");
  const parts = source.split(edit.find);
  if (parts.length !== 2)
    throw new Error(`${parts.length - 1} places in ${edit.file}: ${edit.find}`);
  writeFileSync(join(folder, `${edit.file}.js`), transpile(parts.join(edit.put)));
  const api = {};
  for (const name of MODULES) {
    Object.assign(api, await import(pathToFileURL(join(folder, `${name}.js`)).href));
  }
  rmSync(folder, { recursive: true }); // the modules are loaded
  return api as StructuresApi;
}

/** Removes the files that `loadBroken` keeps for further copies. */
export function removeCopies(): void {
  if (whole !== undefined) rmSync(whole, { recursive: true });
  whole = undefined;
}

function transpileAll(): string {
  const folder = mkdtempSync(join(tmpdir(), "structures-"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const room of ROOMS) {
    const names = readdirSync(join(SOURCE, room), { encoding: "utf8", recursive: true });
    for (const name of names.filter((each) => each.endsWith(".ts"))) {
      const text = readFileSync(join(SOURCE, room, name), "utf8");
      const path = join(folder, room, name.replace(/\.ts$/, ".js"));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, transpile(text));
    }
  }
  return folder;
}

function transpile(text: string): string {
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    rewriteRelativeImportExtensions: true,
    verbatimModuleSyntax: true,
  };
  return ts.transpileModule(text, { compilerOptions }).outputText;
}
