/**
 * Mutants of the naive model: one law broken at a time. They prove what the programs can detect: a fault that no program finds in the
 * model would not be found in the engine either.
 */
import type { SyncFrontier, SyncOptions } from "./frontier-surface.ts";
import { createModelFrontier } from "./model-frontier.ts";
import { type Laws, LAWS } from "./model-laws.ts";
import { hostOf, takePlace } from "./model-state.ts";

/** One fault: its name, as the title of a test, and the laws that it breaks. */
export interface Mutant {
  readonly fault: string;
  readonly laws: Partial<Laws>;
}

const LEASE_MUTANTS: Mutant[] = [
  mutant("release takes a new place", { placeAfterRelease: takePlace }),
  mutant("an expired lease counts no attempt", { attemptsAfterExpiry: (attempts) => attempts }),
  mutant("release does not restore readyAt", { releaseRestoresReadyAt: () => false }),
  mutant("release restores readyAt over something later", { releaseRestoresReadyAt: () => true }),
  mutant("release does not restore the host's turn", { releaseRestoresTurn: () => false }),
  mutant("a lease ends one millisecond late", { isLeaseOver: (deadline, now) => deadline < now }),
  mutant("what is due keeps its place", { placeWhenDue: (_, { sequence }) => sequence }),
  mutant("what is due at once comes in the order of admission", {
    compareDue: (a, b) => a.sequence - b.sequence,
  }),
  mutant("a retry keeps its priority", { retryPriority: ({ retryPriority = 0 }) => retryPriority }),
  mutant("back-off grows one step late", { backoffSteps: (attempts) => attempts - 2 }),
  mutant("one attempt too many", { hasNoAttemptLeft: (attempts, max) => attempts > max }),
  mutant("one delivery too many", { hasNoDeliveryLeft: (deliveries, max) => deliveries > max }),
  mutant("done twice works", { isPresentLease: ({ lease }) => lease !== undefined }),
  mutant("update takes a new place", { placeAfterUpdate: takePlace }),
  mutant("requeue counts on", { attemptsAfterRequeue: (attempts) => attempts }),
];

const HOST_MUTANTS: Mutant[] = [
  mutant("the end of a visit starts no delay", { readyAfterVisit: ({ readyAt }) => readyAt }),
  mutant("a block can be shortened", { blockedUntil: (_, untilMs) => untilMs }),
  mutant("a success forgives no failure", { failuresAfterSuccess: (failures) => failures }),
  mutant("host back-off starts one failure late", {
    isBackedOff: (failures, after) => failures > after,
  }),
  mutant("a host gives up at its first failure", { givesUp: () => true }),
  mutant("a host never gives up", { givesUp: () => false }),
  mutant("the breaker forgets no failure", { countsForBreaker: () => true }),
  mutant("adaptive delay has no upper bound", {
    learnedDelay: (latencyMs, { factor, minMs }) => Math.max(factor * latencyMs, minMs),
  }),
];

const ORDER_MUTANTS: Mutant[] = [
  mutant("hosts go by name", { compareTurns: (a, b) => (a.key < b.key ? -1 : 1) }),
  mutant("new hosts go last", {
    compareTurns(a, b) {
      if (a.turn === undefined && b.turn === undefined) return (a.joined ?? 0) - (b.joined ?? 0);
      return (a.turn ?? 1e9) - (b.turn ?? 1e9);
    },
  }),
  mutant("one lease per host too many", { isHostFull: (leased, limit) => leased > limit }),
  mutant("a host goes one millisecond early", {
    hasDelayPassed: (readyAt, now) => now + 1 >= readyAt,
  }),
  mutant("start requests are like others", { compareStarts: () => 0 }),
  mutant("LIFO is FIFO", { isNewestFirst: () => false }),
  mutant("the best priority is taken over hosts that may not go", {
    competitors: (_, pending) => pending,
  }),
];

const ADMISSION_MUTANTS: Mutant[] = [
  mutant("a deeper sighting counts", { depthAfterSighting: (_, seen) => seen }),
  mutant("a shallower sighting is ignored", { doesSightingCount: () => false }),
  mutant("a full frontier calls duplicates full", {
    isDuplicate: ({ dedup }, { capacity }) => capacity !== 1 && dedup !== "record",
  }),
  mutant("capacity binds children", { isBoundByCapacity: () => true }),
  mutant("capacity is one too high", { isFull: (held, capacity) => held > capacity }),
  mutant("the budget is one too high", { isBudgetSpent: (admitted, budget) => admitted > budget }),
  mutant("the depth limit is one too low", { isTooDeep: (depth, maxDepth) => depth >= maxDepth }),
  mutant("a refused request is remembered as a host", {
    hostWithBudget(model, key) {
      const host = hostOf(model, key);
      host.joined ??= model.nextSequence;
      return host;
    },
  }),
  mutant("skip remembers", { isRemembered: () => true }),
  mutant("record is refused", { isDuplicate: () => true }),
  mutant("children keep the depth that they claim", {
    depthOfChild: (pageDepth, child) => child.depth ?? pageDepth + 1,
  }),
  mutant("a redirect goes deeper", { depthOfRedirect: (depth) => depth + 1 }),
  mutant("a redirect leaves its data behind", { dataOfRedirect: () => undefined }),
  mutant("a redirect leaves its priority behind", { priorityOfRedirect: () => undefined }),
  mutant("a redirect of no identity has one", { dedupOfForgotten: () => "check" }),
  mutant("a redirect leaves its epoch", { staysInEpoch: () => false }),
  mutant("a redirected POST is one still", {
    becomesGet: (method, status) =>
      (status === 303 && method !== "HEAD") || (status < 303 && method === "PUT"),
  }),
];

const VIEW_MUTANTS: Mutant[] = [
  mutant("peek hands out", { modelToPeekAt: (model) => model }),
  mutant("a lost wake-up: expiries are not waited for", { endToWaitFor: () => undefined }),
];

const GROUP_MUTANTS: Mutant[] = [
  mutant("a group's limit is one too high", { isGroupFull: (leased, limit) => leased > limit }),
  mutant("a group's clock is not heeded", { hasGroupDelayPassed: () => true }),
  mutant("the end of a visit starts no delay of a group", {
    groupReadyAfterVisit: (readyAt, endMs) => Math.max(readyAt, endMs),
  }),
  mutant("a release keeps the clock of a group", {
    groupReadyAfterRelease: ({ readySet }) => readySet,
  }),
  mutant("a release takes back the clock of a group that somebody set since", {
    isClockAsSet: () => true,
  }),
  mutant("hosts without a known address share one", { knownAddress: (address) => address }),
  mutant("a visit ends for its groups when somebody looks", { endForGroups: (_, now) => now }),
  mutant("the clocks of groups do not outlive a clear", { groupOutlivesClear: () => false }),
  mutant("addresses do not outlive a clear", {
    outlivesClear: (host) => host.isSet || host.isHeld,
  }),
];

const EPOCH_MUTANTS: Mutant[] = [
  mutant("a request's own epoch is not heeded", { ownEpoch: () => undefined }),
  mutant("a request for later is in the epoch of now", { timeOfEpoch: (_, now) => now }),
  mutant("undated requests are in a period too", { isTimeless: () => false }),
  mutant("what is done comes again a millisecond late", {
    comesAgainAt: (now, everyMs) => now + everyMs + 1,
  }),
  mutant("a page that changed is visited less often", {
    periodStep(changed) {
      if (changed === undefined) return 0;
      return changed ? 0.5 / Math.E : 0.5 * (1 - 1 / Math.E);
    },
  }),
  mutant("a period has no upper bound", {
    boundedPeriod: (periodMs, { min }) => Math.max(periodMs, min),
  }),
  mutant("what comes again keeps its deliveries", {
    deliveriesOfRevisit: (deliveries) => deliveries,
  }),
  mutant("a push before its time takes the place of what rests", {
    doesPushReplaceDone: () => true,
  }),
  mutant("a failed record is not taken again", {
    doesPushReplace: ({ state, isAgain }) => state === "pending" && isAgain,
  }),
  mutant("what came again by itself stays in the way of a push", {
    doesPushReplace: ({ state }) => state === "failed",
  }),
  mutant("what its request put into an epoch comes again", { comesAgain: () => true }),
  mutant("forget keeps what is on its way", {
    losesIdentity: ({ state }) => state === "forgotten",
  }),
  mutant("forgetting one epoch forgets the others", { isOfEpoch: () => true }),
  mutant("forgetting forever forgets named epochs", { isOfForever: () => true }),
];

/** Random programs without rules detect these. */
export const MUTANTS: readonly Mutant[] = [
  ...LEASE_MUTANTS,
  ...HOST_MUTANTS,
  ...ORDER_MUTANTS,
  ...ADMISSION_MUTANTS,
  ...VIEW_MUTANTS,
  ...GROUP_MUTANTS,
  ...EPOCH_MUTANTS,
];

/** Random programs with rules detect these. */
export const RULE_MUTANTS: readonly Mutant[] = [
  mutant("a domain outranks an exact host", {
    rankOfFit: ({ exact, domain, pattern }) => [domain, exact, pattern],
  }),
  mutant("the shorter domain wins", {
    rankOfFit: ({ exact, domain, pattern }) => [exact, -domain, pattern],
  }),
  mutant("the shorter pattern wins", {
    rankOfFit: ({ exact, domain, pattern }) => [exact, domain, -pattern],
  }),
  mutant("schemes are not looked at", { isOfSchemes: () => true }),
  mutant("the last rule of equals wins", { compareEqualFits: (a, b) => b.order - a.order }),
  mutant("shares are equal", { costOfHandOut: () => 1 }),
  mutant("an absent rule saves its share up", { passOfReturning: (pass) => Math.min(pass, 0) }),
  mutant("a swap leaves what is pending where it is", { loseRecords: () => false }),
  mutant("what no rule takes stays pending", { failsWithoutRule: () => false }),
  mutant("a lease takes the new policy of a rule that was made anew", { policyOfGone: () => ({}) }),
  mutant("rules without politeness wait for the clocks of others", { waitsForHost: () => true }),
];

/** Opens the model with the fault in it. */
export function openMutant({ laws }: Mutant): (options: SyncOptions) => SyncFrontier {
  return (options) => createModelFrontier(options, { ...LAWS, ...laws });
}

function mutant(fault: string, laws: Partial<Laws>): Mutant {
  return { fault, laws };
}
