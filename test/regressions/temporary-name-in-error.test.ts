/** What is written beside a name was told by the name of the temporary file, a missing file as a directory that was opened. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openFrontier } from "../../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-told-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a snapshot that can not be written is told by the path that was asked for", async () => {
  const frontier = await openFrontier();
  for (const [path, code] of [
    [join(folder, "nowhere", "x"), "DISK_GONE"],
    [folder, "DISK_FAILED"],
  ] as const) {
    const message = expect.stringContaining(`${path}: E`) as unknown;
    const refused = frontier.snapshot({ path });
    await expect(refused).rejects.toMatchObject({ code, message, details: { path } });
  }
  await frontier.close();
});

test("a file that is not there, and one of another version, are refused with what to do", async () => {
  const missing = { code: "DISK_GONE", message: expect.stringContaining("a path that exists") };
  await expect(openFrontier({ from: join(folder, "none") })).rejects.toMatchObject(missing);
  const frontier = await openFrontier();
  const path = join(folder, "file");
  await frontier.snapshot({ path });
  await frontier.close();
  const bytes = readFileSync(path);
  bytes.writeUInt32LE(99, 4);
  writeFileSync(path, bytes);
  const message = expect.stringContaining(
    "version 1 to 3; use the version of outrider that",
  ) as unknown;
  const other = { code: "FORMAT_UNSUPPORTED", message };
  await expect(openFrontier({ from: path })).rejects.toMatchObject(other);
});
