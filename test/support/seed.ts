/** The seed of a random test: `SEED=` or a new one; always printed, so that a run can be repeated. */
export function testSeed(name: string): number {
  const given = Number(process.env.SEED);
  const seed =
    Number.isSafeInteger(given) && given > 0 ? given : 1 + Math.floor(Math.random() * 2e9);
  console.info(`${name}: SEED=${seed}`);
  return seed;
}

/** Seconds that a long test may take beyond its CI size; 0: the CI size alone. */
export function stressSeconds(): number {
  const given = Number(process.env.STRESS_SECONDS);
  return given > 0 ? given : 0;
}
