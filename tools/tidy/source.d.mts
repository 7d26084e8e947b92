/** What the tests see of the reader. */
import type { TidyFile } from "./check.mjs";

export function readTree(root: string): TidyFile[];
export function walk(root: string, below: string): string[];
