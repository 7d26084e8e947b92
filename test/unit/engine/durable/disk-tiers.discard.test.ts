/** What a discarded frontier leaves in its directory. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openFrontier } from "../../../../src/index.ts";

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "discard-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

it.each(["state", "full"] as const)(
  "a discarded frontier leaves an empty directory, and its name is free (records: %s)",
  async (records) => {
    const directory = temporary();
    const options = { directory, records, memoryBytes: 2 ** 18, seen: { memoryBytes: 300_000 } };
    for (let life = 0; life < 2; life++) {
      const frontier = await openFrontier(options);
      for (let page = 0; page < 30; page++)
        frontier.pushMany(
          Array.from({ length: 1_000 }, (_, host) => `https://h${host}.example/${page}`),
        );
      expect(frontier.report()).toMatchObject({ accepted: 30_000 });
      await frontier.flush();
      expect(readdirSync(join(directory, "default"))).toEqual(
        expect.arrayContaining(["seen", "spill"]),
      );
      await frontier.close({ discard: true });
      expect(readdirSync(directory, { recursive: true })).toEqual(["default"]);
    }
  },
);

it("what is not its own stays", async () => {
  const directory = temporary();
  const frontier = await openFrontier({ directory });
  writeFileSync(join(directory, "default", "spill", "notes.txt"), "mine");
  await frontier.close({ discard: true });
  expect(readdirSync(join(directory, "default"), { recursive: true })).toEqual([
    "spill",
    join("spill", "notes.txt"),
  ]);
});
