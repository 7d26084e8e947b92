/** Tools for a frontier's directory, used while no program works on it: re-exports only. */
export { FrontierError } from "./base/errors.ts";
export { exportFrontier, type ExportOptions } from "./engine/export.ts";
export { importFrontier, type ImportOptions, type ImportResult } from "./engine/import.ts";
export { type StoredOptions, storedOptions } from "./engine/stored.ts";
export {
  type DirectoryCheck,
  type FileCheck,
  verifyDirectory,
  type VerifyOptions,
} from "./engine/verify-directory.ts";
