/**
 * All rules over a list of files.
 *
 *   files ─▶ words, lock, place ─▶ scripts: parse ─▶ shape · fence · hot · barrel · layout · ledger · english ─▶ findings
 *        └─▶ mirror, folders (need the whole list)
 */
import { checkEnglish } from "./english.mjs";
import { checkFence } from "./fence.mjs";
import { checkFolders } from "./folders.mjs";
import { checkHot } from "./hot.mjs";
import { checkLayout } from "./layout.mjs";
import { checkLedger } from "./ledger.mjs";
import { checkLock } from "./lock.mjs";
import { checkBarrel, checkMirror, checkPlace } from "./rooms.mjs";
import { checkShape } from "./shape.mjs";
import { isScript, parse } from "./source.mjs";
import { checkWords } from "./words.mjs";

/** Every rule there is; a finding of the rule in `WARNINGS` is shown and does not fail. */
export const RULES = [
  "any",
  "barrel",
  "booleans",
  "columns",
  "default-export",
  "english",
  "entry",
  "enum",
  "fence-bytes",
  "fence-chance",
  "fence-clock",
  "fence-files",
  "fence-journal",
  "fence-kernel",
  "fence-shared",
  "fence-terminal",
  "fence-waiting",
  "fence-webassembly",
  "file-lines",
  "file-lines-warning",
  "file-name",
  "folder-comment",
  "folder-files",
  "function-lines",
  "global-state",
  "hot",
  "inheritance",
  "layout",
  "layout-table",
  "ledger",
  "lock-address",
  "lock-complete",
  "machine-path",
  "mirror",
  "namespace",
  "only",
  "parameters",
  "registry",
  "room",
  "suite",
  "todo",
];
export const WARNINGS = ["file-lines-warning"];

/** Findings in the order of the files, each { rule, path, line, message }. */
export function checkFiles(files) {
  const findings = [];
  const reportFor = (path) => (rule, line, message) => {
    findings.push({ rule, path, line, message });
  };
  for (const file of files) {
    const report = reportFor(file.path);
    checkWords(file, report);
    checkLock(file, report);
    checkPlace(file, report);
    if (!isScript(file.path)) continue;
    const parsed = parse(file);
    checkShape(parsed, report);
    checkFence(parsed, report);
    checkHot(parsed, report);
    checkBarrel(parsed, report);
    checkLayout(parsed, report);
    checkLedger(parsed, report);
    checkEnglish(parsed, report);
  }
  checkMirror(files, reportFor);
  checkFolders(files, reportFor);
  return findings;
}
