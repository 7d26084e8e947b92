import { describe, expect, it } from "vitest";
import { faultText } from "../../../../src/cli/output/fault-text.ts";
import { runCommand } from "../../../../src/cli/run-command.ts";
import { DownloadError } from "../../../../src/crawl/http/download-error.ts";
import { createFakeIo } from "../../../support/fake-io.ts";

describe("a fault for a person", () => {
  it("says where, what, and what to do, in two lines; one where nobody can do anything", () => {
    const cause = new DownloadError("no-host", "getaddrinfo ENOTFOUND foo");
    const message = `crawler error: downloader: ${cause.message}`;
    const text = faultText({ type: "downloader", message, url: "http://foo/robots.txt", cause });
    expect(text.split("\n")).toEqual([
      "http://foo/robots.txt: getaddrinfo ENOTFOUND foo",
      "  check the spelling of the name, and that this machine can resolve names",
    ]);
    expect(faultText({ type: "analyzer", message: "crawler error: analyzer: threw" })).toBe(
      "threw",
    );
  });

  it("is told while nothing was read: a private address names the flag, and robots.txt is not blamed", async () => {
    const io = createFakeIo(undefined);
    expect(await runCommand(["crawl", "http://127.0.0.1:9/"], io)).toBe(3);
    expect(io.text.err).toContain("http://127.0.0.1:9/robots.txt: 127.0.0.1");
    expect(io.text.err).toContain("--allow-private permits them");
    expect(io.text.out).toContain("1 page: 1 private address, refused without --allow-private");
    expect(io.text.out).not.toMatch(/forbidden|first byte|duplicates/);
  });
});
