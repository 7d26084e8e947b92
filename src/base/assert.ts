/**
 * Assertions. `assert` is always on; hot loops guard it with `if (VERIFY)`, which is on when
 * OUTRIDER_VERIFY=1 (the tests set it) and costs nothing otherwise.
 */
import { InvariantError } from "./errors.ts";

export const VERIFY: boolean = process.env.OUTRIDER_VERIFY === "1";

/** Throws InvariantError: the engine is broken and must stop. The last good snapshot stays. */
export function assert(condition: boolean, invariant: string): asserts condition {
  if (!condition) throw new InvariantError(invariant);
}
