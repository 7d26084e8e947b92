/** What is asked of a directory without opening it for good: both packages look at the one that the old package left. */
import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { exportedLine } from "./renames.mjs";
import { optionsFor } from "./side.mjs";

/** Both packages verify, read, export and import the old side's directory. */
export async function compareTools({ duel, sides, folder, spec }, random) {
  const [old] = sides;
  const { directory } = old;
  if (!existsSync(directory)) return;
  const looked = join(folder, "looked-at");
  rmSync(looked, { recursive: true, force: true });
  cpSync(directory, looked, { recursive: true });
  const ask = (name, question) => duel.answer({ do: name }, (side) => question(side.pkg, side));
  await ask("verifyDirectory", async (pkg, side) => {
    const check = await pkg.api("verifyDirectory")(looked, { options: options(pkg, side) });
    return { ...check, files: check.files.map(({ path, name, state }) => ({ path, name, state })) };
  });
  await ask("storedOptions", (pkg) => pkg.api("storedOptions")(looked));
  await ask("readOnly", async (pkg, side) => {
    const frontier = await pkg.api("openFrontier")({
      ...options(pkg, side),
      readOnly: true,
      directory: looked,
    });
    const { report, plain } = side.reader;
    const seen = [
      report(frontier.report()),
      frontier.peek(100).map(plain),
      frontier.push("http://read.example/").status,
    ];
    await frontier.close();
    return seen;
  });
  const lines = [];
  await ask("exportFrontier", async (pkg, side) => {
    const own = [];
    for await (const line of pkg.api("exportFrontier")(looked, { options: options(pkg, side) }))
      own.push(line);
    lines.push(own);
    return own.map(exportedLine);
  });
  if (random.once(2) && lines.length > 0) await imports({ duel, folder, lines: lines[0], spec });
  rmSync(looked, { recursive: true, force: true });

  /** Those of the program, which hold functions, at the side's time. */
  function options(pkg, side) {
    const { records: _, ...rest } = spec;
    const still = pkg.api("createVirtualClock")(side.clock.now());
    return optionsFor(pkg, rest, { clock: still });
  }
}

/** Both make a frontier of the old one's lines. */
async function imports({ duel, folder, lines, spec }) {
  const wanted = [
    lines,
    ["http://line.example/1", '{"url":"http://line.example/2","priority":3}', "no url"],
    lines.slice(0, -1),
  ];
  for (const [at, list] of wanted.entries()) {
    await duel.answer({ do: "importFrontier", at, lines: list.length }, async (side) => {
      const to = join(folder, `imported-${side.pkg.side}-${at}`);
      const { records: _, ...rest } = spec;
      const options = () =>
        optionsFor(side.pkg, rest, { clock: side.pkg.api("createVirtualClock")(side.clock.now()) });
      try {
        const result = await side.pkg.api("importFrontier")(to, list, { options: options() });
        const frontier = await side.pkg.api("openFrontier")({ ...options(), directory: to });
        const seen = [result, side.reader.report(frontier.report()), frontier.peek(1_000)];
        await frontier.close();
        return seen;
      } finally {
        rmSync(to, { recursive: true, force: true });
      }
    });
  }
}
