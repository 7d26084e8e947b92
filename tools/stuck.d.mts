import type { Reporter } from "vitest/node";

export declare const STUCK_MS: number;
export declare class StuckReporter implements Reporter {
  onInit: NonNullable<Reporter["onInit"]>;
  onTestModuleQueued: NonNullable<Reporter["onTestModuleQueued"]>;
  onTestCaseResult: NonNullable<Reporter["onTestCaseResult"]>;
  onTestModuleEnd: NonNullable<Reporter["onTestModuleEnd"]>;
  onTestRunEnd: NonNullable<Reporter["onTestRunEnd"]>;
}
