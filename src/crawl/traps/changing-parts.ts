/**
 * ChangingParts: where a site's frame shows other words on each page: a saying of the day, a random list of neighbours.
 *
 *   page   known known [new new new] known known [new … new] known      run: shingles in a row that no page had shown
 *                    ▲ before      ▲ after                              known by the shingles beside it
 *
 *   changing   a short run on most pages since the first with it, on half of them beside a longer one: what a page is about does not stand there
 *
 *   I1  What changes once stays so while most pages have it short: pages of a trap show nothing beside it.
 *   I2  Bounded: HOSTS_MAX hosts, PLACES_MAX places in each; those used longest ago make way.
 */
import { BoundedMap } from "./bounded-map.ts";

/** Shingles in a row that no page had shown, and those that stand before and after them; 0 where the page begins and ends. */
export interface Run {
  readonly before: number;
  readonly after: number;
  readonly shingles: readonly number[];
}

interface Place {
  /** Pages of the host before the first one with it. */
  readonly since: number;
  /** Pages that have a short run here, and those of them with a longer one elsewhere. */
  short: number;
  beside: number;
  isChanging: boolean;
}

interface HostPlaces {
  pages: number;
  readonly places: BoundedMap<string, Place>;
}

const HOSTS_MAX = 200;
const PLACES_MAX = 128;
/** So many runs of a page are read. */
const RUNS_MAX = 32;
const SHORT_MAX = 16;
/** So many pages show that a place changes, if it is short on such a share of all, with a longer run on such a share of these. */
const [PAGES_MIN, SHORT_SHARE, BESIDE_SHARE] = [12, 0.8, 0.5];

export class ChangingParts {
  readonly #hosts = new BoundedMap<string, HostPlaces>(HOSTS_MAX);

  /** The runs of a page that are its own. */
  ownOf(host: string, runs: readonly Run[]): readonly Run[] {
    const known = this.#hosts.get(host) ?? { pages: 0, places: new BoundedMap(PLACES_MAX) };
    this.#hosts.set(host, known);
    let longest = 0;
    for (const { shingles } of runs) longest = Math.max(longest, shingles.length);
    let own: Run[] | undefined;
    for (const [at, run] of runs.entries()) {
      if (at >= RUNS_MAX) break;
      const isBeside = longest > run.shingles.length;
      if (isChangingAt(known, run, isBeside))
        own = (own ?? [...runs]).filter((each) => each !== run);
    }
    known.pages++;
    return own ?? runs;
  }
}

/** Counts a run at its place; whether words change there. */
function isChangingAt({ pages, places }: HostPlaces, run: Run, isBeside: boolean): boolean {
  const name = `${run.before} ${run.after}`;
  const place = places.get(name) ?? { since: pages, short: 0, beside: 0, isChanging: false };
  if (place.short === 0) places.set(name, place);
  if (run.shingles.length > SHORT_MAX) return false;
  place.short++;
  if (isBeside) place.beside++;
  const isMostly = place.short >= SHORT_SHARE * (pages + 1 - place.since);
  const isFrame = place.short >= PAGES_MIN && place.beside >= BESIDE_SHARE * place.short;
  place.isChanging = isMostly && (place.isChanging || isFrame);
  return place.isChanging;
}
