/** The folders of test/ that hold tests (STYLE.md §5), in the order in which they answer fastest. */
export const QUICK_SUITES = [
  "unit",
  "ancestors",
  "model",
  "differential",
  "conformance",
  "interleave",
  "api",
  "tidy",
  "regressions",
  "guard",
];
/** These take STRESS_SECONDS and run by their own scripts. */
export const SLOW_SUITES = ["stress", "crash", "simulation"];
