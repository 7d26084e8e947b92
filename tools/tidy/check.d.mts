/** What the tests see of the rules. */
export interface TidyFile {
  readonly path: string;
  readonly text: string;
}

export interface TidyFinding {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export const RULES: readonly string[];
export const WARNINGS: readonly string[];
export function checkFiles(files: readonly TidyFile[]): TidyFinding[];
