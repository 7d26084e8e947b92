/**
 * The order of test files: those of LONGEST_TESTS first, the others by their length in bytes. A long file that begins last leaves all cores
 * but one without work.
 */
import { statSync } from "node:fs";
import { relative } from "node:path";
import { LONGEST_TESTS } from "./suites.mjs";

/** What vitest asks of a sequencer; it makes one for each run. */
export class LongestFirst {
  #root;

  constructor(vitest) {
    this.#root = vitest.config.root;
  }

  /** A run has one shard. */
  async shard(files) {
    return files;
  }

  async sort(files) {
    const places = new Map(files.map((file) => [file, this.#placeOf(file)]));
    return files.toSorted((a, b) => places.get(a) - places.get(b));
  }

  /** The lower goes first: the place on the list, or else how far the file is from the longest that can be. */
  #placeOf({ moduleId }) {
    const place = LONGEST_TESTS.indexOf(relative(this.#root, moduleId));
    return place < 0 ? Number.MAX_SAFE_INTEGER - statSync(moduleId).size : place;
  }
}
