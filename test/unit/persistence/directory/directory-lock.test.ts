import { describe, expect, it } from "vitest";
import {
  giveLock,
  lockOwner,
  type ProcessTable,
  takeLock,
} from "../../../../src/persistence/directory/directory-lock.ts";
import type { Place } from "../../../../src/persistence/directory/frontier-directory.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";

/** A machine: the running processes, and when each began. */
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
  it("is held by one process at a time, and released only by its owner", () => {
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

  it("is taken over from a dead process, even when its pid runs again as another", () => {
    const at = place();
    takeLock(at, machine(new Map([[1, "100"]]), 1));
    const reused = new Map([
      [1, "150"],
      [2, "200"],
    ]);
    expect(takeLock(at, machine(reused, 2)).nonce).toHaveLength(32);
    expect(lockOwner(at, machine(reused, 2))?.pid).toBe(2);
  });

  it("is taken over from an earlier boot, whatever runs under its pid now", () => {
    const at = place();
    const running = new Map([[1, "100"]]);
    const before = takeLock(at, machine(running, 1, { boot: "boot-0" }));
    const { nonce } = takeLock(at, machine(running, 1));
    expect(nonce).not.toBe(before.nonce);
    expect(lockOwner(at, machine(running, 1))).toMatchObject({ pid: 1, nonce });
  });

  it("is left alone when its owner cannot be checked", () => {
    for (const more of [{ host: "two" }, { space: "pid:[2]" }]) {
      const at = place();
      takeLock(at, machine(new Map([[1, "100"]]), 1, more));
      expect(() => takeLock(at, machine(new Map([[2, "200"]]), 2))).toThrow(
        expect.objectContaining(LOCKED),
      );
    }
  });

  it("can be taken when a dead claimant has claimed it", () => {
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

  it("is held although the owner's own temporary files could not be removed, and a more important error is kept", () => {
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

  it("leaves nothing behind when it could not be written", () => {
    const at = place();
    const files = at.files as ReturnType<typeof createMemoryFiles>;
    files.capacity = 10;
    expect(() => takeLock(at, machine(new Map([[1, "100"]]), 1))).toThrow("ENOSPC");
    expect(files.names()).toEqual([]);
  });

  it("is taken over when it is not readable: its owner died while the disk lost power", () => {
    const at = place();
    takeLock(at, machine(new Map([[1, "100"]]), 1));
    (at.files as ReturnType<typeof createMemoryFiles>).setBytes("/dir/lock", new Uint8Array(3));
    const { nonce } = takeLock(at, machine(new Map([[2, "200"]]), 2));
    expect(lockOwner(at, machine(new Map([[2, "200"]]), 2))).toMatchObject({ pid: 2, nonce });
  });

  it("removes files that killed openings left, and none of a live process", () => {
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

  it("is not taken by a process whose temporary file was removed meanwhile, and no other error is thrown", () => {
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
