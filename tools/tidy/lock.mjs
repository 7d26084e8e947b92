/**
 * The lock file names versions and checksums of every platform's packages; where to fetch them is
 * the installer's choice, so it holds no address.
 */

export function checkLock({ path, text }, report) {
  if (!/(^|\/)package-lock\.json$/.test(path)) return;
  text.split("\n").forEach((line, index) => {
    if (/"resolved":\s*"[a-z+]+:/.test(line))
      report("lock-address", index + 1, "set omit-lockfile-registry-resolved and lock again");
  });
  for (const { name } of missingOptional(JSON.parse(text).packages))
    report("lock-complete", 1, `${name} is missing: node tools/complete-lock.mjs`);
}

/** Optional dependencies without an entry, for which `npm ci` refuses the whole lock. */
export function missingOptional(packages) {
  const missing = new Map();
  for (const [path, dependent] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(dependent.optionalDependencies ?? {}))
      if (!isLocked(packages, path, name)) missing.set(name, { name, version, dependent });
  }
  return [...missing.values()];
}

/** Found the way Node looks: below the dependent, then upwards. */
function isLocked(packages, path, name) {
  let at = path;
  for (;;) {
    if (packages[`${at === "" ? "" : `${at}/`}node_modules/${name}`] !== undefined) return true;
    if (at === "") return false;
    at = at.slice(0, Math.max(at.lastIndexOf("/node_modules/"), 0));
  }
}
