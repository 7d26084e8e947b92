/**
 * Who gets how much of a suite's time, before it begins.
 *
 *   1  every case: one round at its cheapest size, whatever else     (the floor)
 *   2  every case: one round at its first size; every size of a case whose sizes are one picture
 *   3  the first size of every case: three rounds, from which there is a verdict
 *   4  the other sizes: one round        5  the same: three rounds        6  all of them: as many as they want
 *
 *   A step of 2 is taken before any of 3, and so on; within a number the one with the most worth for a second. One that does not
 *   fit is left out, and a cheaper one after it may still fit.
 *
 *   I1  The seconds of a plan are no more than the budget, or `isShort` is true and the plan is its floor.
 *   I2  Every case has at least one round at one size.
 *   I3  The same offers and budget make the same plan.
 */
import { ROUNDS_MIN } from "../harness/statistics.ts";

/** A size of a case, with what it costs. */
export interface Offer {
  readonly name: string;
  readonly size: string;
  /** Once, before its first round. */
  readonly setup: number;
  /** One observation of every side, and the first one once more. */
  readonly round: number;
  readonly roundsMax: number;
  /** first: what the case is about. also: a size beside it. spare: only where there is no time for another. */
  readonly kind: "first" | "also" | "spare";
  /** All sizes of the case are one picture: `also` is then worth as much as `first`. */
  readonly isPicture: boolean;
  readonly worth: number;
}

export interface Planned {
  readonly offer: Offer;
  readonly rounds: number;
}

export interface Plan {
  readonly taken: readonly Planned[];
  readonly left: readonly Offer[];
  readonly seconds: number;
  /** Not even one round of every case fits. */
  readonly isShort: boolean;
}

interface Step {
  readonly offer: Offer;
  readonly to: number;
  readonly tier: number;
  readonly cost: number;
}

/** Divides `budget` seconds among offers; those of a case stand together. */
export function planOf(offers: readonly Offer[], budget: number): Plan {
  const rounds = new Map<Offer, number>();
  for (const offer of floorOf(offers)) rounds.set(offer, 1);
  let spent = total(rounds);
  const isShort = spent > budget;
  const refused = new Set<string>();
  while (!isShort) {
    const step = bestStep(offers, rounds, refused);
    if (step === undefined) break;
    if (spent + step.cost > budget) {
      refused.add(keyOf(step.offer, step.to));
      continue;
    }
    take(rounds, step, offers);
    spent = total(rounds);
  }
  const taken = offers.flatMap((offer) => {
    const count = rounds.get(offer);
    return count === undefined ? [] : [{ offer, rounds: count }];
  });
  const left = offers.filter((offer) => !rounds.has(offer) && offer.kind !== "spare");
  return { taken, left, seconds: spent, isShort };
}

/** What one round of every case takes at the least. */
export function floorSeconds(offers: readonly Offer[]): number {
  return floorOf(offers).reduce((sum, offer) => sum + secondsOf(offer, 1), 0);
}

export function secondsOf({ setup, round }: Offer, rounds: number): number {
  return setup + round * rounds;
}

function floorOf(offers: readonly Offer[]): Offer[] {
  const cheapest = new Map<string, Offer>();
  for (const offer of offers) {
    const other = cheapest.get(offer.name);
    if (other === undefined || secondsOf(offer, 1) < secondsOf(other, 1))
      cheapest.set(offer.name, offer);
  }
  return [...cheapest.values()];
}

function total(rounds: ReadonlyMap<Offer, number>): number {
  let sum = 0;
  for (const [offer, count] of rounds) sum += secondsOf(offer, count);
  return sum;
}

function keyOf({ name, size }: Offer, to: number): string {
  return `${name} ${size} ${to}`;
}

function bestStep(
  offers: readonly Offer[],
  rounds: ReadonlyMap<Offer, number>,
  refused: ReadonlySet<string>,
): Step | undefined {
  let best: Step | undefined;
  for (const offer of offers) {
    const step = stepOf(offer, offers, rounds);
    if (step === undefined || refused.has(keyOf(offer, step.to))) continue;
    if (best === undefined || isBetter(step, best)) best = step;
  }
  return best;
}

function isBetter(step: Step, best: Step): boolean {
  if (step.tier !== best.tier) return step.tier < best.tier;
  const gain = ({ offer, cost }: Step): number => offer.worth / Math.max(cost, 1e-6);
  return gain(step) > gain(best);
}

/** What this size would do with more time. */
function stepOf(
  offer: Offer,
  offers: readonly Offer[],
  rounds: ReadonlyMap<Offer, number>,
): Step | undefined {
  const now = rounds.get(offer) ?? 0;
  if (offer.kind === "spare" || now >= offer.roundsMax) return undefined;
  const isChief = offer.kind === "first" || offer.isPicture;
  if (now === 0) {
    const cost = secondsOf(offer, 1) - spareSeconds(offer, offers, rounds);
    return { offer, to: 1, tier: isChief ? 2 : 4, cost };
  }
  const to = now < ROUNDS_MIN ? Math.min(ROUNDS_MIN, offer.roundsMax) : now + 1;
  const tier = now >= ROUNDS_MIN ? 6 : isChief ? 3 : 5;
  return { offer, to, tier, cost: (to - now) * offer.round };
}

/** What is given back when a size that only stood in for another goes. */
function spareSeconds(
  { name }: Offer,
  offers: readonly Offer[],
  rounds: ReadonlyMap<Offer, number>,
): number {
  const spare = offers.find((each) => each.name === name && each.kind === "spare");
  return spare !== undefined && rounds.has(spare) ? secondsOf(spare, 1) : 0;
}

function take(rounds: Map<Offer, number>, { offer, to }: Step, offers: readonly Offer[]): void {
  rounds.set(offer, to);
  for (const each of offers)
    if (each.name === offer.name && each.kind === "spare") rounds.delete(each);
}
