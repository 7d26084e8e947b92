/** Programs on frontiers in memory: every call but those of the disk, and a snapshot's file that both go on from. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Duel } from "./duel.mjs";
import { createGenerator, eventsOf } from "./operations.mjs";
import { optionsOf, wrongOptionsOf } from "./options.mjs";
import { SCRATCH } from "./packages.mjs";
import { createRandom } from "./random.mjs";
import { optionsFor, Side } from "./side.mjs";

/** Runs one program of so many operations. `note` is given the duel once it stands. */
export async function memoryProgram({ packages, seed, operations, note }) {
  const random = createRandom(seed);
  const spec = optionsOf(random, false);
  const folder = join(SCRATCH, `memory-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const sides = packages.map((pkg) => {
    const side = new Side(pkg, {
      hidden: [
        [folder, "<folder>"],
        [`${pkg.side}.snapshot`, "<file>"],
      ],
    });
    side.snapshotPath = join(folder, `${pkg.side}.snapshot`);
    return side;
  });
  const duel = new Duel(sides, seed);
  note?.(duel, spec);
  try {
    const opened = await duel.answer({ do: "open", spec }, async (side) => {
      await side.open(spec);
      return "opened";
    });
    if (opened !== "opened") return; // both refuse the options alike
    const events = eventsOf(random);
    for (const side of sides) side.listen(events);
    const next = createGenerator(random);
    for (let at = 0; at < operations; at++) await duel.perform(next(duel.leases));
    await duel.settle();
    duel.compareAll();
    if (random.once(3)) await goOn(duel, sides, spec);
    await end(duel, sides);
  } finally {
    for (const side of sides) await side.frontier?.close().catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Both write a file; both open what the old one wrote. */
async function goOn(duel, sides, spec) {
  if (spec.records === "full") return;
  // The frontier may be draining, with takes that wait: only the snapshot is waited for.
  await duel.answer({ do: "snapshot" }, (side) => side.perform({ do: "snapshot" }));
  const opened = [];
  for (const side of sides) {
    const { snapshotPath } = sides[0];
    opened.push(
      await side.pkg.api("openFrontier")(
        optionsFor(side.pkg, spec, { clock: side.clock, from: snapshotPath }),
      ),
    );
  }
  try {
    const [old, now] = sides;
    duel.compareNow("report of the snapshot", (side) =>
      side.reader.report(opened[side === now ? 1 : 0].report()),
    );
    duel.compareNow("order of the snapshot", (side) =>
      opened[side === old ? 0 : 1].peek(1_000).map(side.reader.plain),
    );
  } finally {
    for (const frontier of opened) await frontier.close();
  }
}

/** Closing settles what waits; the closed frontier answers as one does. */
async function end(duel, sides) {
  for (const side of sides) side.letGo();
  await duel.settle();
  await Promise.all(sides.map((side) => side.frontier.close()));
  await duel.settleAll();
  for (const name of ["push", "poll", "peek", "report", "flush", "resume", "nextDueAt"]) {
    await duel.perform({ do: name, request: "http://late.example/", max: 1 });
  }
  await duel.settleAll();
}

/** Option sets with a wrong value in them: the same code for the same field, or an opening. */
export async function wrongOptions({ packages, seed, operations, note }) {
  const random = createRandom(seed);
  const sides = packages.map((pkg) => new Side(pkg));
  const duel = new Duel(sides, seed);
  note?.(duel, {});
  for (let at = 0; at < operations; at++) {
    const spec = wrongOptionsOf(random);
    await duel.answer({ do: "open", spec }, async (side) => {
      const frontier = await side.pkg.api("openFrontier")(optionsFor(side.pkg, spec));
      await frontier.close();
      return "opened";
    });
  }
}
