/** The user's state may hold objects of classes: one that says by toJSON what it is in plain data is kept as that, −0 as −0. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";

it("state with objects that have a toJSON comes back as what they say, from a directory and from a file", async () => {
  const directory = mkdtempSync(join(tmpdir(), "outrider-state-"));
  try {
    const path = join(directory, "alone.msgpack");
    const state = { at: new URL("http://a.test/x"), list: [new URL("http://b.test/")], zero: -0 };
    const kept = { at: "http://a.test/x", list: ["http://b.test/"], zero: -0 };
    const first = await openFrontier({ directory: join(directory, "kept") });
    first.state = state;
    await first.close();
    const second = await openFrontier({ directory: join(directory, "kept") });
    expect(second.state).toEqual(kept);
    await second.close();
    const third = await openFrontier();
    third.state = state;
    await third.snapshot({ path });
    await third.close();
    const fourth = await openFrontier({ from: path });
    expect(fourth.state).toEqual(kept);
    await fourth.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
