export const REASONS: readonly string[];
export interface RowComparison {
  tested: string[];
  missing: string[];
  waiting: Array<[row: string, reason: string]>;
  unknown: string[];
}
export function compareRows(rows: Record<string, string>, titles: readonly string[]): RowComparison;
export function titlesOf(path: string, text: string): string[];
export function readRows(): Record<string, string>;
export function readTitles(): string[];
