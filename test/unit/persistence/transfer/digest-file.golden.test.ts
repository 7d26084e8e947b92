/** The golden file was made without this code (SHA-1 and CRC-32 of Python). It is read to its content, and written to the same bytes. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  DIGEST_BYTES,
  digestPath,
  readDigests,
  sortDigests,
  writeDigests,
} from "../../../../src/persistence/transfer/digest-file.ts";
import type { Place } from "../../../../src/persistence/directory/frontier-directory.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";

const GOLDEN = readFileSync(new URL("../../../golden/digests-1.sha1", import.meta.url));

/** Its content, unsorted and partly twice. */
const DIGESTS = [
  Buffer.alloc(DIGEST_BYTES, 255),
  ...[3, 0, 4, 1, 2, 3].map((at) =>
    createHash("sha1").update(`GEThttp://host.test/${at}`).digest(),
  ),
  Buffer.alloc(DIGEST_BYTES),
  Buffer.alloc(DIGEST_BYTES, 255),
];

function rigOf(bytes?: Uint8Array) {
  const files = createMemoryFiles();
  const place: Place = { files, directory: "/dir" };
  const path = digestPath(place, 1);
  if (bytes !== undefined) {
    files.close(files.open(path, "w"));
    files.setBytes(path, new Uint8Array(bytes));
  }
  return { files, path, place };
}

it("version 1 of a digest file opens to its content", () => {
  const { path, place } = rigOf(GOLDEN);
  const digests = Buffer.from(readDigests(place, path));
  const read = Array.from({ length: digests.length / DIGEST_BYTES }, (_, at) =>
    digests.subarray(at * DIGEST_BYTES, (at + 1) * DIGEST_BYTES).toString("hex"),
  );
  expect(read).toEqual([...new Set(DIGESTS.map((digest) => digest.toString("hex")))].sort());
});

it("version 1 of a digest file is still written byte by byte", () => {
  const { files, path, place } = rigOf();
  writeDigests(place, 1, sortDigests(Buffer.concat(DIGESTS)));
  expect(files.names()).toEqual(["/dir/digests-00000001.sha1"]);
  expect(Buffer.from(files.bytesOf(path)).toString("hex")).toBe(GOLDEN.toString("hex"));
});

it("a digest file of one digest is the worked example of its document", () => {
  const { files, path, place } = rigOf();
  writeDigests(place, 1, Buffer.alloc(DIGEST_BYTES, 0xab));
  const text = readFileSync(
    new URL("../../../../docs/formats/digests.md", import.meta.url),
    "utf8",
  );
  const words = Buffer.from(files.bytesOf(path)).toString("hex").match(/.{8}/g)?.join(" ");
  expect(text).toContain(`\n${words}\n`);
});

it("a digest file with any byte changed, or cut off anywhere, is refused with its name", () => {
  const refused = {
    code: expect.stringMatching(/^SNAPSHOT_CORRUPT$/),
    message: expect.stringMatching(/sha1/),
  };
  for (let at = 0; at < GOLDEN.length; at++) {
    const changed = Buffer.from(GOLDEN);
    changed[at] = (changed[at] as number) ^ (1 << (at % 8));
    for (const bytes of [changed, GOLDEN.subarray(0, at)]) {
      const { path, place } = rigOf(bytes);
      expect(() => readDigests(place, path), `byte ${at}`).toThrow(
        expect.objectContaining(refused),
      );
    }
  }
});
