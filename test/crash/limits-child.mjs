/**
 * A frontier that meets a limit of the system, step by step; one line of JSON for each step.
 *
 *   node limits-child.mjs size <directory>       under `ulimit -f`: pushes until refused, waits for a line, goes on
 *   node limits-child.mjs files <directory>      takes all file descriptors, opens, closes them, opens again
 *   node limits-child.mjs rights <directory>     as an unprivileged user: opens a directory it may not write, and one it may not read
 */
import { chmodSync, closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openFrontier } from "../../dist/index.js";

const NOBODY = 65534;
const [step, directory] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const codeOf = (promise) =>
  promise.then(
    () => "none",
    ({ code }) => code,
  );
const urlsFrom = (start) => Array.from({ length: 500 }, (_, at) => `http://h.test/${start + at}`);

async function size() {
  const frontier = await openFrontier({ directory, keepOpen: true, durability: "sync" });
  let accepted = 0;
  let full = 0;
  while (full === 0) {
    const result = frontier.pushMany(urlsFrom(accepted));
    accepted += result.accepted;
    full = result.full;
  }
  say({ accepted, full, pending: frontier.report().pending });
  await new Promise((resolve) => process.stdin.once("data", resolve));
  say({ after: frontier.pushMany(urlsFrom(accepted)).accepted });
  await frontier.close();
  say({ closed: true });
  process.stdin.destroy();
}

async function files() {
  const held = [];
  try {
    for (;;) held.push(openSync("/dev/null", "r"));
  } catch ({ code }) {
    say({ held: held.length > 0, code });
  }
  const open = () => openFrontier({ directory, keepOpen: true });
  const refused = await codeOf(open());
  for (const file of held) closeSync(file);
  const frontier = await open();
  const verdict = frontier.push("http://h.test/");
  await frontier.close();
  say({ refused, status: verdict.status });
}

async function rights() {
  const own = await openFrontier({ directory, keepOpen: true });
  own.push("http://h.test/");
  await own.close();
  const lock = join(directory, "default/lock");
  writeFileSync(lock, "somebody's", { mode: 0o000 });
  for (const path of [join(directory, "default"), directory]) chmodSync(path, 0o555);
  const hasRights = process.getuid() === 0;
  try {
    if (hasRights) process.seteuid(NOBODY);
  } catch ({ code }) {
    say({ kept: code }); // a system on which root cannot change its user
    return;
  }
  const readonly = await codeOf(openFrontier({ directory, keepOpen: true }));
  if (hasRights) process.seteuid(0);
  for (const path of [directory, join(directory, "default")]) chmodSync(path, 0o777);
  if (hasRights) process.seteuid(NOBODY);
  const unreadable = await codeOf(openFrontier({ directory, keepOpen: true }));
  if (hasRights) process.seteuid(0);
  chmodSync(lock, 0o600);
  const again = await openFrontier({ directory, keepOpen: true });
  say({ readonly, unreadable, pending: again.report().pending });
  await again.close();
}

await { size, files, rights }[step]();
