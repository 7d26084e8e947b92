/**
 * Completes package-lock.json: one entry for every platform's binary, also for those that the
 * registry at hand did not serve when the lock was written.
 *
 *   npm install --package-lock-only && node tools/complete-lock.mjs
 *   … --prefix bench/peers          && node tools/complete-lock.mjs bench/peers
 *
 * npm leaves such packages out, and `npm ci` then refuses the lock on every machine. An entry that
 * is added here names the exact version and the platform, read off the package's name; it has no
 * checksum, so it is for platforms other than the locking one. Remove this when npm does it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { missingOptional } from "./tidy/lock.mjs";

/** System, processor and what it is linked against: @rollup/rollup-linux-arm-musleabihf. */
const PLATFORM = new RegExp(
  [
    "-(android|darwin|freebsd|linux|openbsd|openharmony|win32)",
    "-([a-z]+\\d*x?)",
    "(?:-(gnu|musl|gnueabihf|musleabihf|eabi|msvc))?$",
  ].join(""),
);
const LIBC = { gnu: "glibc", mus: "musl" };

const folder = process.argv[2] ?? ".";
const file = new URL(`../${folder}/package-lock.json`, import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8"));
const missing = missingOptional(lock.packages);
for (const { name, version, dependent } of missing)
  lock.packages[`node_modules/${name}`] = describe(name, version, dependent);
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(byPath));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(
  missing.length === 0
    ? "the lock is complete"
    : `added ${missing.map(({ name, version }) => `${name}@${version}`).join(", ")}`,
);

function describe(name, version, dependent) {
  const match = PLATFORM.exec(name);
  if (match === null || !/^\d+\.\d+\.\d+$/.test(version))
    throw new Error(`${name}@${version}: expected: a platform in the name, an exact version`);
  const [, os, cpu, abi = ""] = match;
  const libc = os !== "linux" ? undefined : LIBC[abi.slice(0, 3)];
  return {
    version,
    cpu: [cpu],
    ...(dependent.dev === true ? { dev: true } : {}),
    ...(libc === undefined ? {} : { libc: [libc] }),
    ...(dependent.license === undefined ? {} : { license: dependent.license }),
    optional: true,
    os: [os],
  };
}

function byPath([a], [b]) {
  return a < b ? -1 : a > b ? 1 : 0;
}
