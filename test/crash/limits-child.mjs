/**
 * A frontier that meets a limit of the system, step by step; one line of JSON for each step.
 *
 *   node limits-child.mjs size <directory>       under `ulimit -f`: pushes until refused, waits for a line, goes on
 *   node limits-child.mjs files <directory>      takes all file descriptors there are, opens, gives them back, opens
 */
import { closeSync, openSync } from "node:fs";
import { openFrontier } from "../../dist/index.js";

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

await (step === "size" ? size() : files());
