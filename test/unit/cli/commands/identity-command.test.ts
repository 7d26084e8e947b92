import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runCommand } from "../../../../src/cli/run-command.ts";
import type { IdentityFile } from "../../../../src/crawl.ts";
import { createFakeIo } from "../../../support/fake-io.ts";

it("identity new makes a secret file, adds a key that signs later, and directory publishes both", async () => {
  const folder = mkdtempSync(join(tmpdir(), "outrider-identity-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "identity.json");
  const run = async (...words: string[]): Promise<{ exit: number; out: string; err: string }> => {
    const io = createFakeIo(undefined);
    const exit = await runCommand(["identity", ...words], io);
    return { exit, out: io.text.out, err: io.text.err };
  };
  const read = (): IdentityFile => JSON.parse(readFileSync(path, "utf8")) as IdentityFile;
  expect(await run("new", path, "--agent", "https://bot.example/")).toMatchObject({ exit: 0 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const [first] = read().keys;
  expect(first?.validFrom).toBeUndefined();
  expect((await run("new", path, "--json")).out).toContain('"agent":"https://bot.example"');
  expect((await run("new", path, "--from", "2030-01-01T00:00:00Z")).out).toContain(
    "from 2030-01-01",
  );
  const { agent, keys } = read();
  expect([agent, keys.length, keys[0]]).toEqual(["https://bot.example", 3, first]);
  expect(keys[1]?.validFrom).toMatch(/^\d{4}-/);
  const { out } = await run("directory", path);
  expect(out).toContain("GET https://bot.example/.well-known/http-message-signatures-directory");
  for (const { x, d } of keys) expect([out.includes(x), out.includes(d)]).toEqual([true, false]);
  const { headers } = JSON.parse((await run("directory", path, "--json")).out) as {
    headers: object;
  };
  expect(Object.keys(headers)).toEqual(["content-type", "signature-input", "signature"]);
});

it.each([
  [["identity"], "nothing"],
  [["identity", "old", "x"], "old"],
  [["identity", "new"], "no file"],
  [["identity", "directory", "/"], "identity"],
  [["identity", "new", "/"], "expected"],
  [["identity", "new", "x.json", "--agent", "bot"], "identity.agent"],
])("%j is refused", async (line, word) => {
  const io = createFakeIo(undefined);
  expect(await runCommand(line, io)).not.toBe(0);
  expect(io.text.err).toContain(word);
});
