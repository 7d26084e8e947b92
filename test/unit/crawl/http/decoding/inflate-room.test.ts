import { describe, expect, it } from "vitest";
import { createInflateRoom } from "../../../../../src/crawl/http/decoding/inflate-room.ts";

/** Lets all that can go on do so. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("room for what is inflated", () => {
  it("is never passed, served first come first, and all come in (I1)", async () => {
    const room = createInflateRoom(10);
    const entered: number[] = [];
    const shares = [4, 6, 5, 1].map((bytes, at) => {
      const share = room.share();
      void share.take(bytes).then(() => entered.push(at));
      return share;
    });
    await settled();
    expect([entered, room.heldBytes]).toEqual([[0, 1], 10]);
    shares[0]?.end();
    await settled();
    // The third does not fit beside the second, and the last does not overtake it.
    expect([entered, room.heldBytes]).toEqual([[0, 1], 6]);
    shares[1]?.end();
    await settled();
    expect([entered, room.heldBytes]).toEqual([[0, 1, 2, 3], 6]);
    for (const share of shares) share.end();
    expect(room.heldBytes).toBe(0);
  });

  it("what is larger than all of it comes in alone", async () => {
    const room = createInflateRoom(10);
    const small = room.share();
    await small.take(1);
    const large = room.share();
    let isIn = false;
    void large.take(99).then(() => {
      isIn = true;
    });
    await settled();
    expect(isIn).toBe(false);
    small.end();
    await settled();
    expect([isIn, room.heldBytes]).toEqual([true, 99]);
  });

  it("a share takes once, and can again when it has ended (I2)", async () => {
    const room = createInflateRoom(10);
    const share = room.share();
    await share.take(6);
    await share.take(6);
    expect(room.heldBytes).toBe(6);
    share.end();
    share.end();
    await share.take(7);
    expect(room.heldBytes).toBe(7);
  });

  it("who is aborted leaves the row, and those after it come in", async () => {
    const room = createInflateRoom(10);
    const first = room.share();
    await first.take(8);
    const controller = new AbortController();
    const left = room.share().take(9, controller.signal);
    const after = room.share();
    const entered = after.take(2);
    controller.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    await entered;
    expect(room.heldBytes).toBe(10);
    await expect(room.share().take(1, controller.signal)).rejects.toThrow("gone");
  });
});
