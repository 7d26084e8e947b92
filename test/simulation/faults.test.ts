/**
 * A disk that refuses, each kind of file by itself and each code: the caller gets the error by name, a push that was not admitted reports
 * it, nothing admitted is lost, and the frontier continues when the disk does.
 */
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../src/engine/options/normalize-options.ts";
import type { FrontierFault } from "../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import type { Files } from "../../src/persistence/files.ts";
import { killedFiles } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

const CODES: Readonly<Record<string, string>> = {
  ENOSPC: "DISK_FULL",
  EROFS: "DISK_READONLY",
  EMFILE: "FILES_EXHAUSTED",
  ENOENT: "DISK_GONE",
  EIO: "DISK_FAILED",
};
const KINDS = ["journal", "snapshot", "run-", "cold.manifest", "spill-"];

interface Refusal {
  code: string | undefined;
  /** Number of refused calls. */
  count: number;
}

/** Files of which one kind refuses to be opened, written, synced or renamed while a code is set. */
function refusing(
  kind: string,
  refusal: Refusal,
): { files: Files; base: ReturnType<typeof createMemoryFiles> } {
  const base = createMemoryFiles();
  const paths = new Map<number, string>();
  const fail = (path: string | undefined): Error | undefined => {
    const name = path?.slice(path.lastIndexOf("/") + 1) ?? "";
    if (refusal.code === undefined || !name.startsWith(kind)) return undefined;
    refusal.count++;
    return Object.assign(new Error(refusal.code), { code: refusal.code, syscall: "write" });
  };
  const check = (path: string | undefined): void => {
    const error = fail(path);
    if (error !== undefined) throw error;
  };
  const files: Files = {
    ...base,
    open(path, flags) {
      if (flags !== "r") check(path);
      const file = base.open(path, flags);
      paths.set(file, path);
      return file;
    },
    write(...[file, bytes, start, length, position]) {
      check(paths.get(file));
      return base.write(file, bytes, start, length, position);
    },
    sync(file) {
      check(paths.get(file));
      base.sync(file);
    },
    syncLater(file, done) {
      const error = fail(paths.get(file));
      if (error === undefined) base.syncLater(file, done);
      else done(error);
    },
    rename(from, to) {
      check(to);
      base.rename(from, to);
    },
  };
  return { files, base };
}

const CASES = KINDS.flatMap((kind) => Object.keys(CODES).map((code) => [kind, code] as const));

test.each(CASES)(
  "a refusal of %s with %s is reported by name, and loses nothing",
  async (kind, code) => {
    const refusal: Refusal = { code: undefined, count: 0 };
    const { files, base } = refusing(kind, refusal);
    const clock = createVirtualClock(0);
    const small = { memoryBytes: 60_000, seen: { memoryBytes: 60_000 } };
    const settings = normalizeOptions({
      ...{ directory: "/dir", clock, keepOpen: true, seed: 1, ...small },
      snapshots: { everyBytes: 60_000 },
    });
    const open = { ...settings, pageCountMax: 1024 };
    const frontier = await LocalFrontier.open({ ...open, files });
    const faults: FrontierFault[] = [];
    frontier.on("error", (fault) => faults.push(fault));
    let next = 0;
    const admitted: string[] = [];
    const pushSome = (): void => {
      const urls = Array.from({ length: 100 }, () => `http://h${next % 7}.test/${next++}`);
      const result = frontier.pushMany(urls);
      expect(result.accepted + result.full).toBe(urls.length);
      urls.forEach((url, at) => {
        const { admitted: isIn, reason } = result.verdict(at);
        if (isIn) admitted.push(url);
        else expect(reason).toBe("disk");
      });
    };
    const work = async (rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        pushSome();
        const leases = frontier.pollMany(40);
        try {
          frontier.done(leases);
        } catch (error) {
          expect(error).toMatchObject({ code: CODES[code] });
          for (const lease of leases) expect(frontier.record(lease.url)?.state).toBe("leased");
        }
        clock.advance(150);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await work(10);
    refusal.code = code;
    await work(30);
    const wasRefused = refusal.count > 0;
    refusal.code = undefined;
    clock.advance(2_000);
    await work(20);
    await frontier.flush();
    verifyFrontier(frontier);
    expect(frontier.report().accepted).toBe(admitted.length);
    if (wasRefused) {
      const codes = new Set(faults.map(({ cause }) => (cause as { code?: string }).code));
      expect([...codes]).toContain(CODES[code]);
    }
    const again = await LocalFrontier.open({
      ...open,
      clock: createVirtualClock(clock.now()),
      files: killedFiles(base),
    });
    expect(again.report().accepted).toBe(admitted.length);
    expect(again.pushMany(admitted).duplicate).toBe(admitted.length);
    await again.close();
    await frontier.close();
  },
);
