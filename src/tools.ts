/** Tools for a frontier's directory, used while no program works on it: re-exports only. */
export { FrontierError } from "./base/errors.ts";
export { exportFrontier, type ExportOptions } from "./engine/transfer/export-frontier.ts";
export {
  importFrontier,
  type ImportOptions,
  type ImportResult,
} from "./engine/transfer/import-frontier.ts";
export { type StoredOptions, storedOptions } from "./engine/options/stored-options.ts";
export {
  type DirectoryCheck,
  type FileCheck,
  verifyDirectory,
  type VerifyOptions,
} from "./engine/transfer/verify-directory.ts";
