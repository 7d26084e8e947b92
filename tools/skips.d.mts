import type { Reporter } from "vitest/node";

export declare function readSkipList(text: string): Set<string>;
export declare class SkipReporter implements Reporter {
  onInit: NonNullable<Reporter["onInit"]>;
  onTestRunEnd: NonNullable<Reporter["onTestRunEnd"]>;
}
