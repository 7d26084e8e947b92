/**
 * What no tracked file may hold: a path of somebody's machine, the address of a registry.
 */

/** Not behind a host name or another folder: `https://example.com/home/x/` is somebody's page. */
const MACHINE_PATH =
  /(?<![\w.\-/])(?:file:\/\/)?\/(?:root\/|home\/[\w.-]+\/|Users\/[\w.-]+\/|work\/[\w.-]+\/)/;
const WINDOWS_PATH = /\b[A-Z]:\\Users\\/;
/** Papers that lie beside the repository at somebody's desk, not in it. */
const DESK_PATH = /\.\.\/shared\/(?:data|hooks|[A-Z]+\.md)/;
const REGISTRIES = [
  /\bregistry\.(?:npmjs|yarnpkg|npmmirror)\.(?:org|com)/i,
  /\bnpm\.pkg\.github\b/i,
  /\/artifactory\/|\bverdaccio\b/i,
];

/** Lists of URLs from the wild hold whatever the wild holds. */
const DATA = /^(test|bench)\/.*\.(txt|json|jsonl|bin)$/;

export function checkWords({ path, text }, report) {
  const isData = DATA.test(path);
  text.split("\n").forEach((line, index) => {
    if (!isData && (MACHINE_PATH.test(line) || WINDOWS_PATH.test(line) || DESK_PATH.test(line)))
      report("machine-path", index + 1, "a path that exists on one machine only");
    if (!isData && path !== "package-lock.json" && REGISTRIES.some((each) => each.test(line)))
      report("registry", index + 1, "the address of a registry");
  });
}
