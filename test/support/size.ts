/**
 * How much a test does. `npm test` sets OUTRIDER_TEST_SIZE=quick: the part that finds most faults soonest. Everything else is full size:
 * `npm run test:full`, .ci/run, a file run by hand, and any run to which STRESS_SECONDS grants time.
 */
const isQuick =
  process.env.OUTRIDER_TEST_SIZE === "quick" && process.env.STRESS_SECONDS === undefined;

/** The full size of a test, or its size under `npm test`. */
export function sized<T>(full: T, quick: T): T {
  return isQuick ? quick : full;
}
