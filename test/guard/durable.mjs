/**
 * Programs on directories. Between its lives a frontier is closed and opened again, or the new package goes on with a copy of what
 * the old one left: closed, or as it stood on the disk while it was open.
 */
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { compareTools } from "./tools.mjs";
import { Duel } from "./duel.mjs";
import { createGenerator, EVENTS, eventsOf } from "./operations.mjs";
import { optionsOf } from "./options.mjs";
import { SCRATCH } from "./packages.mjs";
import { createRandom } from "./random.mjs";
import { withoutVolatile } from "./renames.mjs";
import { Side } from "./side.mjs";

let places = 0;

/** An empty folder of this process. */
export function emptyFolder(name) {
  const folder = join(SCRATCH, `${name}-${process.pid}-${places++}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Two sides, each with a directory of its own in `folder`. */
export class Lives {
  #serial = 0;

  constructor(packages, { folder, spec, seed, nowMs, performed = 0 }) {
    this.folder = folder;
    this.spec = spec;
    this.sides = packages.map(
      (pkg) => new Side(pkg, { isDurable: true, nowMs, hidden: [[folder, "<folder>"]] }),
    );
    for (const side of this.sides) this.#give(side);
    this.duel = new Duel(this.sides, seed, performed);
  }

  /** A new directory for a side. */
  #give(side) {
    side.directory = join(this.folder, `${side.pkg.side}-${this.#serial++}`);
    // In answers both are called the same.
    side.reader.hidden.unshift([side.directory, "<directory>"]);
  }

  async open(events = EVENTS) {
    const opened = await this.duel.answer({ do: "open", spec: this.spec }, async (side) => {
      await side.open(this.spec, { directory: side.directory });
      return "opened";
    });
    // Both refuse the options alike.
    if (opened !== "opened") return false;
    for (const side of this.sides) side.listen(events);
    this.duel.forgetLeases();
    await this.duel.settle();
    this.duel.compareAll();
    return true;
  }

  /** Full records are written between the calls, and the order of `requeue` goes by what is written: a flush comes first. */
  async perform(given) {
    const operation = withoutVolatile(given);
    const goesByFiles = operation.do === "requeue" || operation.do === "records";
    if (goesByFiles && this.spec.records === "full") await this.duel.perform({ do: "flush" });
    await this.duel.perform(operation);
  }

  async close(options) {
    for (const side of this.sides) side.letGo();
    await this.duel.settle();
    const closing = this.sides.map((side) => side.frontier.close(options));
    await Promise.all(closing);
    await this.duel.settleAll();
  }

  /**
   * Both sides go on with copies of a directory. Where snapshots come by themselves they must: when one falls due is up to the disk, and what
   * an opening makes of snapshot and journal (the order of `records()`, `depths`) goes by it.
   */
  takeOver(source) {
    if (!existsSync(source)) return;
    for (const side of this.sides) {
      const left = side.directory;
      this.#give(side);
      cpSync(source, side.directory, { recursive: true });
      if (left !== source) rmSync(left, { recursive: true, force: true });
    }
  }
}

export async function durableProgram({ packages, seed, operations, note }) {
  const random = createRandom(seed);
  const spec = optionsOf(random, true);
  const folder = emptyFolder("durable");
  const lives = new Lives(packages, { folder, spec, seed });
  note?.(lives.duel, spec);
  try {
    const events = eventsOf(random);
    if (!(await lives.open(events))) return;
    const next = createGenerator(random);
    let left = random.between(50, 300);
    for (let at = 0; at < operations; at++) {
      await lives.perform(next(lives.duel.leases));
      if (left-- > 0) continue;
      await nextLife(lives, random, events);
      left = random.between(50, 400);
    }
    await lives.duel.settle();
    lives.duel.compareAll();
    await lives.close();
    if (random.once(2)) await compareTools(lives, random);
  } finally {
    for (const { frontier } of lives.sides) await frontier?.close().catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function nextLife(lives, random, events) {
  const [old] = lives.sides;
  const kind = random.pick(["closed", "closed", "open", "own", "discarded"]);
  // The files of lmdb are no copy while it writes.
  if (kind === "open" && lives.spec.records !== "full") {
    const copy = join(lives.folder, "as-it-stood");
    // Without the lock of this process, which lives on.
    cpSync(old.directory, copy, { recursive: true, filter: (path) => !/[\\/]lock$/.test(path) });
    await lives.close({ discard: true });
    lives.takeOver(copy);
    rmSync(copy, { recursive: true });
  } else {
    await lives.close(kind === "discarded" ? { discard: true } : undefined);
    if (random.once(4)) await compareTools(lives, random);
    if (kind !== "own" || lives.spec.snapshots !== undefined) lives.takeOver(old.directory);
  }
  for (const side of lives.sides) side.frontier = undefined;
  if (!(await lives.open(events))) throw new Error("both refused what they had taken");
}
