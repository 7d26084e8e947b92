/** In mode `sync` a push of very many wrote the room for them in one piece: of more than 4 GiB it failed, as if the disk were full. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { openRig } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

it("room in the journal is written in pieces", async () => {
  const files = createMemoryFiles();
  const { write } = files;
  let longest = 0;
  files.write = (file, bytes, ...place) => {
    if (bytes.every((byte) => byte === 0)) longest = Math.max(longest, bytes.length);
    return write.call(files, file, bytes, ...place);
  };
  const { frontier } = await openRig(files, createVirtualClock(0), { durability: "sync" });
  const urls = Array.from({ length: 20_000 }, (_, at) => `http://a.org/${at}`);
  expect(frontier.pushMany(urls)).toMatchObject({ accepted: 20_000 });
  expect(longest).toBe(2 ** 20);
});
