/**
 * Swaps rules thousands of times while very many records are pending. Under one seed nothing is lost, no record comes twice, every
 * record goes out under a rule of the current set, and one timer does all the work. Now and then the sweep may finish: then the order
 * within every rule, and the share of each, are exactly as specified.
 *
 * `PENDING=1000000 SWAPS=3000 npx vitest run test/simulation/rules` is the full size; STRESS_SECONDS grows it too.
 */
import { describe, expect, it } from "vitest";
import { createRandom, type Random } from "../../src/base/random.ts";
import type { Lease, Rule } from "../../src/engine/types/frontier-types.ts";
import { type Bench, openBench } from "../support/bench-frontier.ts";
import { stressSeconds, stressTimeoutMs, testRandom } from "../support/seed.ts";
import { sized } from "../support/size.ts";

const PENDING = Number(process.env.PENDING ?? Math.min(15_000 * (1 + stressSeconds()), 1_000_000));
const SWAPS = Number(process.env.SWAPS ?? sized(1_000, 300));
const HOSTS = 40;
/** Swaps between two checks of the settled state. */
const LOOK_EVERY = Math.max(100, Math.ceil(SWAPS / 10));
/** Most hand-outs of one check, and the fewest from which shares can be measured. */
const LOOK_MAX = 600;
const LOOK_MIN = 100;
/** Weights are below 200: rates from 100 to 300, and no rule is ahead of another by more than the longest stride. */
const RATE_MAX = 300;
const STRIDE_MAX = 1 / 100;

const PENDING_NOW = 0;
const DONE = 1;
const LEASED = 2;

/** The expected state, as plainly as possible: places in the order of admission, by host. */
interface Plan {
  readonly state: Uint8Array;
  readonly lines: number[][];
  /** First place of each host's line that may not be done. */
  readonly heads: number[];
}

function createPlan(): Plan {
  const lines: number[][] = Array.from({ length: HOSTS }, () => []);
  for (let place = 0; place < PENDING; place++) (lines[place % HOSTS] as number[]).push(place);
  return { state: new Uint8Array(PENDING), lines, heads: new Array<number>(HOSTS).fill(0) };
}

/** The first pending place of a host; Infinity: none. */
function firstOf({ state, lines, heads }: Plan, host: number): number {
  const line = lines[host] as number[];
  while (state[line[heads[host] as number] as number] === DONE) (heads[host] as number)++;
  for (let at = heads[host] as number; at < line.length; at++) {
    if (state[line[at] as number] === PENDING_NOW) return line[at] as number;
  }
  return Number.POSITIVE_INFINITY;
}

function urlOf(place: number): string {
  return `http://h${place % HOSTS}.com/${place}`;
}

function placeOf({ url }: Lease): number {
  return Number(url.slice(url.lastIndexOf("/") + 1));
}

/** The hosts that each rule of a set takes: the first that names a host, else the last rule. */
function hostsByRule(rules: readonly Rule[]): Map<string, number[]> {
  const hosts = new Map<string, number[]>(rules.map(({ id }) => [id, []]));
  for (let host = 0; host < HOSTS; host++) {
    const own = rules.find(({ match }) => match?.hosts?.includes(`h${host}.com`) ?? true);
    (hosts.get((own as Rule).id) as number[]).push(host);
  }
  return hosts;
}

describe("a frontier whose rules are swapped thousands of times", () => {
  it("loses nothing, doubles nothing, and keeps places and shares", {
    timeout: stressTimeoutMs(1_200_000),
  }, () => {
    const random = testRandom("rules simulation");
    const rules = setOf(0, 0);
    // Records at the front are released over and over: none may fail for its number of deliveries.
    const bench = openBench({ keepOpen: true, rules, maxDeliveries: PENDING + SWAPS });
    const { frontier, check } = bench;
    const plan = createPlan();
    const urls = Array.from({ length: PENDING }, (_, place) => urlOf(place));
    expect(frontier.pushMany(urls).accepted).toBe(PENDING);
    let looks = lookSettled(bench, plan, rules);
    for (let swap = 1; swap <= SWAPS; swap++) {
      const set = setOf(random.below(30), random.word());
      const live = new Set(set.map(({ id }) => id));
      frontier.setRules(set, swap);
      sweepOn(bench, random);
      for (const lease of pollPlanned(bench, plan, random.below(Math.ceil(PENDING / SWAPS / 2)))) {
        expect(live.has(lease.rule)).toBe(true);
        endPlanned(plan, lease, random);
      }
      if (swap % LOOK_EVERY === 0) {
        sweepOut(bench);
        looks += lookSettled(bench, plan, set);
        if (PENDING >= 1_000_000) console.log(`swap ${swap}: ${looks} looks`); // it takes minutes
      }
      if (swap % 500 === 0) check();
    }
    expect(looks).toBeGreaterThan(0);
    const { pending } = frontier.report();
    console.log(`rules simulation: ${SWAPS} swaps, ${PENDING} records, ${looks} looks at shares`);
    finish(bench, plan, pending);
  });
});

/** Polls; every record must be pending, and come once. */
function pollPlanned({ frontier }: Bench, plan: Plan, max: number): Lease[] {
  const leases = frontier.pollMany(max);
  for (const lease of leases) {
    const place = placeOf(lease);
    expect(plan.state[place]).toBe(PENDING_NOW);
    plan.state[place] = LEASED;
  }
  return leases;
}

function endPlanned(plan: Plan, lease: Lease, random: Random): void {
  const isReleased = random.below(3) === 0;
  plan.state[placeOf(lease)] = isReleased ? PENDING_NOW : DONE;
  if (isReleased) lease.release();
  else lease.done();
}

/** Most swaps meet the sweep of the last one after a few slices; one of eight after up to 512, or finished. */
function sweepOn({ clock }: Bench, random: Random): void {
  let slices = random.below(8) === 0 ? 2 ** random.below(10) : random.below(4);
  while (slices-- > 0 && clock.turn()) expect(clock.armed).toBeLessThanOrEqual(1);
  expect(clock.armed).toBeLessThanOrEqual(1); // one scheduling loop
}

/** Runs the sweep to its end: slices of one timer, each of which reduces the work left. */
function sweepOut({ clock }: Bench): void {
  for (let slice = 0; clock.turn(); slice++) {
    if (clock.armed > 1 || slice > PENDING) throw new Error("the sweep does not end");
  }
}

/** Checks order and shares in the settled state; returns 1 when there was enough to measure the shares. */
function lookSettled({ frontier, clock }: Bench, plan: Plan, rules: readonly Rule[]): number {
  const hosts = hostsByRule(rules);
  const { rules: counts } = frontier.report();
  const eligible = rules.filter(({ id }) => (counts[id]?.pending ?? 0) > 0);
  const least = Math.min(...eligible.map(({ id }) => counts[id]?.pending ?? 0));
  const polls = Math.min(LOOK_MAX, least);
  const served = new Map<string, number>();
  const leases: Lease[] = [];
  for (let poll = 0; poll < polls; poll++) {
    const lease = frontier.poll() as Lease;
    const rule = rules.find(({ id }) => id === lease.rule) as Rule;
    const own = hosts.get(rule.id) as number[];
    const place = placeOf(lease);
    expect(own).toContain(place % HOSTS);
    const among = rule.politeness === undefined ? own : [place % HOSTS]; // hosts rotate
    expect(place).toBe(Math.min(...among.map((host) => firstOf(plan, host))));
    plan.state[place] = LEASED;
    served.set(rule.id, (served.get(rule.id) ?? 0) + 1);
    leases.push(lease);
  }
  for (const lease of leases) {
    plan.state[placeOf(lease)] = DONE;
    lease.done();
  }
  expect(clock.armed).toBeLessThanOrEqual(1);
  if (polls < LOOK_MIN) return 0;
  const sum = eligible.reduce((total, rule) => total + rateOf(rule), 0);
  for (const rule of eligible) {
    const share = (polls * rateOf(rule)) / sum;
    const slack = RATE_MAX * STRIDE_MAX + 1 + eligible.length;
    expect(Math.abs((served.get(rule.id) ?? 0) - share)).toBeLessThanOrEqual(slack);
  }
  return 1;
}

function rateOf({ share }: Rule): number {
  return 100 + (share?.weight ?? 0);
}

/** Under one FIFO rule, all records left come in the order in which they were pushed. */
function finish(bench: Bench, plan: Plan, pending: number): void {
  const { frontier, check } = bench;
  frontier.setRules([{ id: "end" }]);
  sweepOut(bench);
  check();
  expect(Object.keys(frontier.report().rules)).toEqual(["end"]);
  let last = -1;
  let count = 0;
  for (let lease = frontier.poll(); lease !== undefined; lease = frontier.poll()) {
    const place = placeOf(lease);
    expect(plan.state[place] === PENDING_NOW && place > last).toBe(true);
    plan.state[place] = DONE;
    last = place;
    count++;
    lease.done();
  }
  expect(count).toBe(pending);
  expect(plan.state.every((state) => state === DONE)).toBe(true);
  expect(frontier.report()).toMatchObject({ pending: 0, failed: 0, done: PENDING });
  check();
}

/**
 * Sets of several rules over the same hosts; the last rule takes the rest. A set always has the same ids and hosts, since pending records
 * stay with an id that still exists; shares and politeness differ.
 */
function setOf(kind: number, flavor: number): Rule[] {
  const random = createRandom(kind);
  const taste = createRandom(flavor);
  const rules: Rule[] = [];
  for (let n = 0; n < 1 + random.below(5); n++) {
    const hosts = Array.from({ length: 1 + random.below(8) }, () => `h${random.below(HOSTS)}.com`);
    const isPolite = taste.below(3) === 0;
    rules.push({
      id: `set${kind}-${n}`,
      match: { hosts },
      share: { weight: taste.below(200) },
      ...(isPolite ? { politeness: { perHost: 1_000_000 } } : {}),
    });
  }
  return [...rules, { id: `set${kind}-all` }];
}
