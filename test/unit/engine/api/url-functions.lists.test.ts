/** Lists that were handed in and their strings are let go of once the call is over: nothing of the package keeps them alive. */
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import {
  canonicalizeMany,
  fingerprint,
  resolveLinks,
} from "../../../../src/engine/api/url-functions.ts";
import { openBench } from "../../../support/bench-frontier.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** A list, handed to `use` and to nobody else. */
function handIn(use: (urls: string[]) => void): WeakRef<string[]> {
  const urls = Array.from({ length: 700 }, (_, i) => `http://h.test/${i}?b=${i}&a=1`);
  use(urls);
  return new WeakRef(urls);
}

/** A weak reference holds its target until the turn of the loop is over; then a full collection takes it. */
async function isForgotten(list: WeakRef<string[]>): Promise<boolean> {
  for (let turn = 0; turn < 20; turn++) {
    await setImmediate();
    collect();
    if (list.deref() === undefined) return true;
  }
  return false;
}

describe("a list of URLs", () => {
  it("is released by canonicalizeMany and by resolveLinks", async () => {
    const many = handIn((urls) => expect(canonicalizeMany(urls).length).toBe(urls.length));
    expect(await isForgotten(many)).toBe(true);
    const links = handIn((urls) =>
      expect(resolveLinks("http://h.test/", urls).length).toBe(urls.length),
    );
    expect(await isForgotten(links)).toBe(true);
    expect(fingerprint("http://h.test/")).toHaveLength(32);
  });

  it("is released by a frontier that stays open", async () => {
    const { frontier, check } = openBench();
    const pushed = handIn((urls) => expect(frontier.pushMany(urls).accepted).toBe(urls.length));
    expect(await isForgotten(pushed)).toBe(true);
    expect(frontier.pollMany(1000).length).toBe(700);
    check();
  });
});
