/**
 * Package files: where the files are that the package loads by path instead of by import: the kernel, the entry of threads, integrations.
 * No other module contains such a path.
 *
 *   location of this module      folder of those files
 *   a part of dist/*.js          dist/          the bundle, which is flat and built with OUTRIDER_BUNDLE set
 *   build/plain/base/*.js        build/plain/   one file per module, for tests and benchmarks of internals
 *   joined, build/plain/*.js     build/plain/   what threads of these load (tools/join-modules.mjs), built with OUTRIDER_BUNDLE set
 *   src/base/*.ts                build/plain/   sources run by a test runner; threads need JavaScript
 */
declare const OUTRIDER_BUNDLE: boolean | undefined;

const ROOT = new URL(rootOf(import.meta.url), import.meta.url);

/** The URL of a file of the package, by its path below the root. */
export function packageFile(path: string): URL {
  return new URL(path, ROOT);
}

function rootOf(here: string): string {
  if (typeof OUTRIDER_BUNDLE !== "undefined") return "./";
  return here.endsWith(".ts") ? "../../build/plain/" : "../";
}
