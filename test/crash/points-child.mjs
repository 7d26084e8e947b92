/**
 * One life of a frontier with little memory that kills itself at a named point of its work with files.
 *
 *   node points-child.mjs <directory> <seed> <point> <which time> <pushed> <done> <records> <base> <clearing>
 *
 * A point is <file>.<step>.<moment>: file journal, snapshot, partial, cold, manifest, spill, lock, directory; step open, write, sync,
 * rename, remove, truncate; moment before, torn (half of the bytes are written) or after. A life runs until it reaches its point;
 * after some rounds, snapshots are requested to reach it. A life that never reaches it ends by itself, and so does point "none",
 * which prints how often it passed each point. A life begins by comparing what it finds with what its parent has recorded as
 * durable: all numbers from <base> to <pushed>, of which <done> are done. Now and then everything is cleared, and numbers continue
 * from there; after a kill during a clear, from <clearing>. A host's settings survive. Lines: "fault <text>"; "pushed <n>": all below
 * n are durable; "done <n>"; "base <n>"; "clearing <n>"; "points <json>".
 */
import { writeSync } from "node:fs";
import { basename } from "node:path";
import { LocalFrontier } from "../../build/plain/engine/api/local-frontier.js";
import { normalizeOptions } from "../../build/plain/engine/options/normalize-options.js";
import { nodeFiles } from "../../build/plain/persistence/files.js";

const [directory, seedText, point, whichText, ...known] = process.argv.slice(2);
const [pushedBefore, doneBefore] = known.map(Number);
const records = known[2] === "full" ? "full" : "state";
const [baseBefore, clearing] = known.slice(3).map(Number);
/** Address of the host of each number 7 n. */
const ADDRESS = "192.0.2.7";
/** Rounds of a life before it asks for snapshots to reach its point. */
const ROUNDS = 40;
const ROUNDS_MAX = point === "none" ? ROUNDS : 400;
let state = Number(seedText) >>> 0;
const random = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return (state >>> 8) % below;
};

const passed = {};
const paths = new Map();

/** Passes a point: dies here if it is the named one. */
function pass(name, beforeDying = () => {}) {
  passed[name] = (passed[name] ?? 0) + 1;
  if (name !== point || passed[name] !== Number(whichText)) return;
  beforeDying();
  process.kill(process.pid, "SIGKILL");
  for (;;); // the signal may take a moment
}

function kindOf(path) {
  const name = basename(path);
  if (name.startsWith("journal")) return "journal";
  if (name.includes(".partial.")) return "partial";
  if (name.startsWith("snapshot")) return "snapshot";
  if (name.startsWith("run-")) return "cold";
  if (name.startsWith("cold.manifest")) return "manifest";
  if (name.startsWith("spill")) return "spill";
  return name.startsWith("lock") ? "lock" : "directory";
}

/** A call with a point before it and one after it. */
const around = (step, pathOf, call) =>
  function around(...args) {
    const kind = kindOf(pathOf(args));
    pass(`${kind}.${step}.before`);
    const result = call(...args);
    pass(`${kind}.${step}.after`);
    return result;
  };

const ofPath = ([path]) => path;
const ofFile = ([file]) => paths.get(file) ?? "";
const files = {
  ...nodeFiles,
  open(path, flags) {
    if (flags === "r") return nodeFiles.open(path, flags);
    pass(`${kindOf(path)}.open.before`);
    const file = nodeFiles.open(path, flags);
    paths.set(file, path);
    pass(`${kindOf(path)}.open.after`);
    return file;
  },
  write(...[file, bytes, from, length, position]) {
    const kind = kindOf(paths.get(file) ?? "");
    pass(`${kind}.write.before`);
    if (length > 1) {
      pass(`${kind}.write.torn`, () => nodeFiles.write(file, bytes, from, length >> 1, position));
    }
    const wrote = nodeFiles.write(file, bytes, from, length, position);
    pass(`${kind}.write.after`);
    return wrote;
  },
  writeLater(file, part, position, done) {
    const kind = kindOf(paths.get(file) ?? "");
    pass(`${kind}.write.before`);
    if (part.length > 1) {
      pass(`${kind}.write.torn`, () => nodeFiles.write(file, part, 0, part.length >> 1, position));
    }
    nodeFiles.writeLater(file, part, position, (error, wrote) => {
      pass(`${kind}.write.after`);
      done(error, wrote);
    });
  },
  sync: around("sync", ofFile, nodeFiles.sync),
  syncLater(file, done) {
    const kind = kindOf(paths.get(file) ?? "");
    pass(`${kind}.sync.before`);
    nodeFiles.syncLater(file, (error) => {
      pass(`${kind}.sync.after`);
      done(error);
    });
  },
  truncate: around("truncate", ofFile, nodeFiles.truncate),
  rename: around("rename", ofPath, nodeFiles.rename),
  remove: around("remove", ofPath, nodeFiles.remove),
  syncDirectory: around("sync", () => "directory", nodeFiles.syncDirectory),
  syncDirectoryLater(path, done) {
    pass("directory.sync.before");
    nodeFiles.syncDirectoryLater(path, (error) => {
      pass("directory.sync.after");
      done(error);
    });
  },
};

// Only a journal with room written ahead cuts a segment to its size.
const isSync = point.startsWith("journal.truncate") || random(3) === 0;
const options = normalizeOptions({
  ...{ directory, records, keepOpen: true },
  ...{ memoryBytes: 60_000, seen: { memoryBytes: 60_000 } },
  durability: isSync ? "sync" : { everyMs: 5 },
  snapshots: { everyBytes: 60_000, everyMs: 20, keep: 1 + random(2) },
});
const frontier = await LocalFrontier.open({ ...options, files, partialBytesLeast: 1 });
let base = baseBefore;
let next = checked();
frontier.host("h0.test").address = ADDRESS;
const say = () => writeSync(1, `pushed ${next}\ndone ${frontier.report().done}\n`);
// Steps that occur only at the end: the lock is released, spill files are removed.
const isLate = /^(lock|spill)\.(remove|open)/.test(point);
for (let round = 0; round < (isLate ? ROUNDS : ROUNDS_MAX); round++) {
  const urls = Array.from({ length: 20 + random(90) }, () => `http://h${next % 7}.test/${next++}`);
  frontier.pushMany(urls);
  frontier.done(frontier.pollMany(random(urls.length)));
  if (isSync) say();
  // A point not reached by then may be one of a snapshot: snapshots by size become ever rarer.
  // The second one finds little changed, and is partial.
  if (round >= ROUNDS && round % 20 === 0)
    await frontier.snapshot().then(() => frontier.snapshot());
  if (random(3) > 0) await new Promise((resolve) => setImmediate(resolve));
  else {
    await frontier.flush();
    say();
    if (random(12) === 0) clear();
  }
}
await frontier.close();
writeSync(1, `points ${JSON.stringify(passed)}\n`);

/** All numbers so far are durable: they are cleared in one step. */
function clear() {
  writeSync(1, `clearing ${next}\n`);
  frontier.clear();
  base = next;
  writeSync(1, `base ${base}\n`);
}

/** Compares the recovered frontier with what is known to be durable; returns the number of URLs ever admitted. */
function checked() {
  const fault = (words) => writeSync(1, `fault ${words}\n`);
  frontier.on("resumed", ({ damage }) => {
    for (const words of damage) fault(words);
  });
  const { accepted, done, pending } = frontier.report();
  const urlOf = (number) => `http://h${number % 7}.test/${number}`;
  if (clearing > base && frontier.record(urlOf(base)) === undefined) base = clearing;
  else if (done < doneBefore) fault(`${done} done, ${doneBefore} were durable`);
  writeSync(1, `base ${base}\n`);
  const end = base + accepted;
  if (end < pushedBefore) fault(`admitted up to ${end}, ${pushedBefore} were durable`);
  if (done + pending !== accepted) fault(`${done} + ${pending} of ${accepted}`);
  const { address } = frontier.host("h0.test");
  if (pushedBefore > 0 && address !== ADDRESS) fault(`h0.test is at ${address}`);
  const urls = Array.from({ length: accepted }, (_, at) => urlOf(base + at));
  // No done URL is pending, none is lost, none is invented: the others are in the order of pushing.
  const rest = [...frontier.records({ state: "pending" })].map(({ url }) => url).sort();
  const wanted = urls.slice(done).sort();
  if (rest.join() !== wanted.join()) fault(`pending ${rest.length}, expected ${wanted.length}`);
  const first = frontier.pollMany(200);
  for (const [at, { url }] of first.entries()) {
    if (url !== urls[done + at]) fault(`${url} at place ${done + at}`);
  }
  for (const lease of first.reverse()) lease.release();
  if (records === "full") {
    // The full record of each finished URL is there, whether the kill came before or after the store had it.
    const told = [...frontier.records({ state: "done" })].map(({ url }) => url).sort();
    const over = urls.slice(0, done).sort();
    if (told.join() !== over.join()) fault(`${told.length} stories of ${done} that are done`);
  }
  const { duplicate } = frontier.pushMany(urls);
  if (duplicate !== accepted) fault(`${duplicate} of ${accepted} are known`);
  return end;
}
