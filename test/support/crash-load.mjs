/**
 * The load that crash tests put on a frontier, and what must hold of it afterwards. A page's children follow from its URL,
 * so that a later check can compute them without the page.
 */
const PAGES = 4_000;

/** Children of a page: up to five, with larger numbers, some of them twice. */
export function childrenOf(url) {
  const page = Number(url.slice(url.lastIndexOf("/") + 1));
  const count = (page * 7) % 6;
  return Array.from({ length: count }, (_, at) => urlOf(page * 3 + at * at + 1));
}

export function urlOf(page) {
  const number = page % PAGES;
  return `https://h${number % 13}.example/${number}`;
}

export const SEEDS = Array.from({ length: 20 }, (_, at) => urlOf(at * 101));

/**
 * The restored frontier must hold everything that was flushed, and nothing else: `accepted` and `done` are lists of URLs; `isOwn` decides
 * whether a URL was ever pushed. Returns what is wrong, in words.
 */
export function faultsOf(frontier, { accepted, done }) {
  const faults = [];
  const stateOf = (url) => frontier.record(url)?.state;
  for (const url of accepted) if (stateOf(url) === undefined) faults.push(`lost ${url}`);
  for (const url of done) {
    if (stateOf(url) !== "done") faults.push(`done before, now ${stateOf(url)}: ${url}`);
  }
  let count = 0;
  for (let page = 0; page < PAGES; page++) {
    const url = urlOf(page);
    const state = stateOf(url);
    if (state !== undefined) count++;
    if (state !== "done") continue;
    for (const child of childrenOf(url)) {
      if (stateOf(child) === undefined)
        faults.push(`${url} is done, its child ${child} is not there`);
    }
  }
  const { pending, waiting, leased, failed, done: finished } = frontier.report();
  if (pending + waiting + leased + failed + finished !== count) {
    faults.push(
      `${pending} + ${waiting} + ${leased} + ${failed} + ${finished} records, ${count} known`,
    );
  }
  return faults;
}
