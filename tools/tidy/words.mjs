/**
 * What no tracked file may contain: a path of a developer's machine, the address of a registry.
 */

/** Not behind a host name or another folder: `https://example.com/home/x/` is a web page. */
const MACHINE_PATH =
  /(?<![\w.\-/])(?:file:\/\/)?\/(?:root\/|home\/[\w.-]+\/|Users\/[\w.-]+\/|work\/[\w.-]+\/)/;
const WINDOWS_PATH = /\b[A-Z]:\\Users\\/;
/** Documents that are beside the repository on a developer's machine, not in it. */
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
