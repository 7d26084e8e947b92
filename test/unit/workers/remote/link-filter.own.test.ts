/** A worker's own table: the links on every page of a site are looked up there first, before the shared filter. */
import { describe, expect, it } from "vitest";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import { filterClear } from "../../../../src/structures/threads/seen-filter.ts";
import {
  type CrewHandle,
  openSharedMemory,
} from "../../../../src/workers/protocol/shared-memory.ts";
import { unpackLinkFacts } from "../../../../src/workers/protocol/link-facts-message.ts";
import {
  createLinkFilter,
  type LinkFilter,
  filterLinks,
  setLinkFacts,
} from "../../../../src/workers/remote/link-filter.ts";
import { createFoundLinks } from "../../../../src/workers/remote/found-links.ts";
import type { PushAnswer } from "../../../../src/workers/remote/worker-lease.ts";

const NAVIGATION = Array.from({ length: 40 }, (_, at) => `http://site.test/menu/${at}`);

/** A frontier that has admitted the links of every page, and the filter of a thread that has read its facts. */
async function site() {
  const frontier = await openFrontier();
  frontier.share();
  frontier.push("http://site.test/");
  frontier.poll()?.done({ found: NAVIGATION }); // at depth 1
  const handle = frontier.share() as unknown as CrewHandle;
  const edge = createLinkFilter(handle, openSharedMemory(handle));
  const hear = (): void => {
    const { generation, packed } = handle.edge as NonNullable<CrewHandle["edge"]>;
    setLinkFacts(edge, generation, unpackLinkFacts(packed));
  };
  hear();
  return { frontier, edge, hear };
}

/** Answers to all links of a page at a depth; each page has a serial of its own. */
function sift(edge: LinkFilter, serial: number, depth: number): PushAnswer[] {
  const answers: PushAnswer[] = [];
  const page = createFoundLinks(serial, depth, undefined);
  const dropped = filterLinks(edge, { list: NAVIGATION, base: undefined }, page, answers);
  expect(dropped + page.links.length).toBe(NAVIGATION.length);
  return answers;
}

const all = (answer: PushAnswer): PushAnswer[] => NAVIGATION.map(() => answer);

describe("a worker's own table of links", () => {
  it("resolves relative links against the page before it looks them up, and none where there is no page", async () => {
    const { frontier, edge } = await site();
    const known = NAVIGATION[7] as string;
    const at = (list: string[], base: string | undefined) => {
      const answers: PushAnswer[] = [];
      const page = createFoundLinks(1, 1, undefined);
      filterLinks(edge, { list, base }, page, answers);
      return { answers, links: page.links };
    };
    const list = [known, "7", "new"];
    expect(at(list, "http://site.test/menu/")).toEqual({
      answers: ["duplicate", "duplicate", "queued"],
      links: ["http://site.test/menu/new"],
    });
    expect(at(list, undefined).answers).toEqual(["duplicate", "rejected", "rejected"]);
    expect(at([known, known], "http://site.test/").links).toEqual([]);
    await frontier.close();
  });

  it("keeps the links of a thousand pages when the shared filter has lost them, and drops no shallower ones", async () => {
    const { frontier, edge, hear } = await site();
    expect(sift(edge, 1, 1)).toEqual(all("duplicate")); // by the filter
    filterClear(edge.filter); // as if newer identities had taken their places
    // Two links may share a place, by the tables' secret; the later one then has it.
    const known = sift(edge, 2, 1);
    expect(known.at(-1)).toBe("duplicate");
    for (let serial = 3; serial < 1_000; serial++) {
      expect(sift(edge, serial, 1 + (serial % 3))).toEqual(known);
    }
    // A shallower sighting may change a record: the owner must see it.
    expect(sift(edge, 1_000, 0)).toEqual(all("queued"));
    // New facts may belong to another generation.
    hear();
    expect(sift(edge, 1_001, 1)).toEqual(all("queued"));
    await frontier.close();
  });
});
