import { describe, expect, it } from "vitest";
import {
  giveLock,
  lockOwner,
  type ProcessTable,
  takeLock,
} from "../../../../src/persistence/directory/directory-lock.ts";
import type { Place } from "../../../../src/persistence/directory/frontier-directory.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";

/** A machine: which processes run, and when each began. */
function machine(running: Map<number, string>, pid: number, more: object = {}): ProcessTable {
  const started = running.get(pid) ?? "";
  return {
    self: { pid, started, boot: "boot-1", space: "pid:[1]", host: "one", ...more },
    isRunning: (other) => running.has(other),
    startedOf: (other) => running.get(other) ?? "",
  };
}

function bytesOf({ files }: Place, path: string): Uint8Array {
  return (files as ReturnType<typeof createMemoryFiles>).bytesOf(path);
}

function place(): Place {
  return { files: createMemoryFiles(), directory: "/dir" };
}

const LOCKED = { code: "FRONTIER_LOCKED" };

describe("the lock of a directory", () => {
  it("is held by one process at a time, and given back by its owner alone", () => {
    const at = place();
    const running = new Map([
      [1, "100"],
      [2, "200"],
    ]);
    const lock = takeLock(at, machine(running, 1));
    expect(() => takeLock(at, machine(running, 2))).toThrow(expect.objectContaining(LOCKED));
    expect(() => takeLock(at, machine(running, 1))).toThrow(expect.objectContaining(LOCKED));
    giveLock(at, { ...lock, nonce: "another" });
    expect(lockOwner(at, machine(running, 2))?.pid).toBe(1);
    giveLock(at, lock);
    takeLock(at, machine(running, 2));
  });

  it("of a dead process is taken over, also when its pid runs again as another", () => {
    const at = place();
    takeLock(at, machine(new Map([[1, "100"]]), 1));
    const reused = new Map([
      [1, "150"],
      [2, "200"],
    ]);
    expect(takeLock(at, machine(reused, 2)).nonce).toHaveLength(32);
    expect(lockOwner(at, machine(reused, 2))?.pid).toBe(2);
  });

  it("of an earlier boot is taken over, whatever runs under its pid now", () => {
    const at = place();
    const running = new Map([[1, "100"]]);
    const before = takeLock(at, machine(running, 1, { boot: "boot-0" }));
    const { nonce } = takeLock(at, machine(running, 1));
    expect(nonce).not.toBe(before.nonce);
    expect(lockOwner(at, machine(running, 1))).toMatchObject({ pid: 1, nonce });
  });

  it("of an owner that can not be judged is left alone", () => {
    for (const more of [{ host: "two" }, { space: "pid:[2]" }]) {
      const at = place();
      takeLock(at, machine(new Map([[1, "100"]]), 1, more));
      expect(() => takeLock(at, machine(new Map([[2, "200"]]), 2))).toThrow(
        expect.objectContaining(LOCKED),
      );
    }
  });

  it("with a claim of a dead claimant on it can be had", () => {
    const at = place();
    const dead = takeLock(at, machine(new Map([[1, "100"]]), 1));
    const other = place();
    const files = at.files as ReturnType<typeof createMemoryFiles>;
    for (const [claimed, pid] of [
      [dead.nonce, 3],
      ["3".repeat(32), 4],
      ["4".repeat(32), undefined],
    ] as const) {
      const claim = `/dir/lock.${claimed}.claim`;
      const running = new Map([[pid ?? 5, "300"]]);
      takeLock(other, machine(running, pid ?? 5), `${pid ?? 5}`.repeat(32));
      files.close(files.open(claim, "w"));
      files.setBytes(claim, pid === undefined ? new Uint8Array(3) : bytesOf(other, "/dir/lock"));
      other.files.remove("/dir/lock");
    }
    takeLock(at, machine(new Map([[2, "200"]]), 2));
    expect(lockOwner(at, machine(new Map([[2, "200"]]), 2))?.pid).toBe(2);
    expect(files.names()).toEqual(["/dir/lock"]);
  });

  it("is held by who could not take its own unfinished files away, or met an error worth more than that", () => {
    const at = place();
    const running = new Map([[1, "100"]]);
    const remove = (path: string): never => {
      throw Object.assign(new Error(`${path}: gone`), { code: "ENOENT", syscall: "unlink" });
    };
    const link = (): never => {
      throw Object.assign(new Error("link"), { code: "EIO", syscall: "link" });
    };
    const failing = { ...at, files: { ...at.files, remove, link } };
    expect(() => takeLock(failing, machine(running, 1))).toThrow("link");
    takeLock({ ...at, files: { ...at.files, remove } }, machine(running, 1));
    expect(lockOwner(at, machine(running, 1))?.pid).toBe(1);
  });

  it("that could not be written leaves nothing behind", () => {
    const at = place();
    const files = at.files as ReturnType<typeof createMemoryFiles>;
    files.capacity = 10;
    expect(() => takeLock(at, machine(new Map([[1, "100"]]), 1))).toThrow("ENOSPC");
    expect(files.names()).toEqual([]);
  });

  it("that is not readable is taken over: its owner died while the disk lost power", () => {
    const at = place();
    takeLock(at, machine(new Map([[1, "100"]]), 1));
    (at.files as ReturnType<typeof createMemoryFiles>).setBytes("/dir/lock", new Uint8Array(3));
    const { nonce } = takeLock(at, machine(new Map([[2, "200"]]), 2));
    expect(lockOwner(at, machine(new Map([[2, "200"]]), 2))).toMatchObject({ pid: 2, nonce });
  });

  it("takes away what killed openings left, and nothing of those that live", () => {
    const at = place();
    const files = at.files as ReturnType<typeof createMemoryFiles>;
    const living = new Map([
      [1, "100"],
      [2, "200"],
    ]);
    const leave = (name: string, pid: number | undefined): void => {
      const { self } = machine(living, pid ?? 0);
      files.close(files.open(`/dir/${name}`, "w"));
      const words = pid === undefined ? "{" : JSON.stringify({ ...self, nonce: "0".repeat(32) });
      files.setBytes(`/dir/${name}`, Buffer.from(words));
    };
    leave("lock.aa.tmp", 3);
    leave("lock.bb.claim", 3);
    leave("lock.bb.claim.cc.tmp", 3);
    leave("lock.dd.tmp", undefined);
    leave("lock.ee.tmp", 2);
    leave("lock.ff.claim", 2);
    leave("locked.tmp", 3);
    takeLock(at, machine(living, 1));
    expect(files.names().sort()).toEqual(
      ["lock", "lock.ee.tmp", "lock.ff.claim", "locked.tmp"].map((name) => `/dir/${name}`),
    );
  });

  it("is not taken, nor anything said of another reason, by one whose file was swept away under it", () => {
    const at = place();
    const running = new Map([
      [1, "100"],
      [2, "200"],
    ]);
    const files = at.files as ReturnType<typeof createMemoryFiles>;
    takeLock(at, machine(running, 1));
    const link: typeof files.link = (from, to) => {
      files.remove(from);
      return files.link(from, to);
    };
    expect(() => takeLock({ ...at, files: { ...files, link } }, machine(running, 2))).toThrow(
      expect.objectContaining(LOCKED),
    );
  });

  it.each([
    ["no number for a process", { pid: "1" }],
    ["half a process", { pid: 1.5 }],
    ["a nonce that leads elsewhere", { nonce: "../../outside" }],
    ["a list for a host", { host: [] }],
  ])("that has %s is nobody's", (_, more) => {
    const at = place();
    const files = at.files as ReturnType<typeof createMemoryFiles>;
    const running = new Map([[1, "100"]]);
    takeLock(at, machine(running, 1));
    const owner = JSON.parse(Buffer.from(files.bytesOf("/dir/lock")).toString("utf8"));
    files.setBytes("/dir/lock", Buffer.from(JSON.stringify({ ...owner, ...more })));
    takeLock(at, machine(running, 1));
    expect(files.names()).toEqual(["/dir/lock"]);
  });
});
