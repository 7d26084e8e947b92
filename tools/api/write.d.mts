import type { Entry } from "./read.mjs";
/** Every page of the reference, by its file's name. */
export function pagesOf(entries: readonly Entry[]): Map<string, string>;
