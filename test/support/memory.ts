/** Takes memory away from an open frontier, and returns it: as if other records held it. */
import { coreOf } from "../../src/engine/api/verify-frontier.ts";
import type { Frontier } from "../../src/index.ts";
import { arenaGive, arenaTake, arenaTrim } from "../../src/memory/arena.ts";
import { regionGive, regionTake } from "../../src/memory/region.ts";

/** Takes all pages but `left`; returns a function that returns them. */
export function takePages(frontier: Frontier, left = 0): () => void {
  const { arena, region } = coreOf(frontier).store;
  arenaTrim(arena);
  const taken: number[] = [];
  for (let page = regionTake(region, 1); page !== 0; page = regionTake(region, 1)) taken.push(page);
  const give = (count: number): void => {
    for (const page of taken.splice(0, count)) regionGive(region, page, 1);
  };
  give(left);
  return () => give(taken.length);
}

/** Takes the free places in pages of objects too, so that every object needs a page; returns a function that returns them. */
export function fillPages(frontier: Frontier): () => void {
  const { arena } = coreOf(frontier).store;
  const taken: Array<readonly [number, number]> = [];
  for (let kind = 1; kind < arena.heads.length; kind++) {
    const bytes = (arena.units[kind] as number) * 8;
    while (arena.heads[kind] !== 0) taken.push([arenaTake(arena, bytes), bytes]);
  }
  return () => {
    for (const [handle, bytes] of taken.splice(0)) arenaGive(arena, handle, bytes);
  };
}
