import type { Frontier } from "../../src/engine/types/frontier-types.ts";

export function childrenOf(url: string): string[];
export function urlOf(page: number): string;
export const SEEDS: string[];
export function faultsOf(
  frontier: Frontier,
  said: { accepted: Iterable<string>; done: Iterable<string> },
): string[];
