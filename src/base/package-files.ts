/**
 * The places of those files of the package that are found by path and not by import: the kernel, the entry of threads, the
 * integrations that are loaded by name. No other module contains them.
 *
 *   this module is               they are in
 *   a part of dist/*.js          dist/          the bundle, which is flat: OUTRIDER_BUNDLE is set when it is made
 *   build/plain/base/*.js        build/plain/   one file per module, for tests and benchmarks of internals
 *   src/base/*.ts                build/plain/   sources run by a test runner: threads need JavaScript
 */
declare const OUTRIDER_BUNDLE: boolean | undefined;

const ROOT = new URL(rootOf(import.meta.url), import.meta.url);

/** The address of a file of the package, by its path below the root. */
export function packageFile(path: string): URL {
  return new URL(path, ROOT);
}

function rootOf(here: string): string {
  if (typeof OUTRIDER_BUNDLE !== "undefined") return "./";
  return here.endsWith(".ts") ? "../../build/plain/" : "../";
}
