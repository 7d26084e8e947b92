import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { packageRoot } from "../support/package.ts";
import { skipUnless } from "../support/skip.ts";

/**
 * A folder that takes no new one by a name: mkdir says that the name's parent is not there, and the platform's recursive mkdir asks for
 * the parent, which is there, and for the name again, for ever, deaf to every signal but SIGKILL.
 */
describe("a place where no folder can be made", () => {
  beforeEach((context) => skipUnless(context, existsSync("/proc/self"), "the system has no /proc"));

  it.each(["--dir", "--items"])("is told of by %s, and does not hang the crawl", (flag) => {
    const program = `${packageRoot}dist/cli/main.js`;
    const words = [program, "crawl", "http://127.0.0.1:1/", "--delay", "0"];
    const { status, signal, stderr } = spawnSync(
      process.execPath,
      [...words, flag, "/proc/no-such-folder/inside"],
      { encoding: "utf8", timeout: 60_000, killSignal: "SIGKILL" },
    );
    expect([signal, status]).toEqual([null, 1]);
    expect(stderr).toContain("/proc/no-such-folder");
    expect(stderr).toContain("ENOENT");
  });
});
