/** The suite `kernel`: canonical form, hashes, seen-set (TARGETS §1). */
import type { BenchCase } from "../../harness/case.ts";
import { bloomCase } from "./bloom.ts";
import { canonicalLinks, canonicalWeb } from "./canonical.ts";
import { dedup } from "./dedup.ts";
import { growth } from "./growth.ts";
import { hashSet } from "./hash-set.ts";
import { memorySizes } from "./memory-sizes.ts";

export const KERNEL_CASES: readonly BenchCase[] = [
  canonicalWeb,
  canonicalLinks,
  dedup,
  hashSet,
  bloomCase,
  memorySizes,
  growth,
];
