/** Type guards for values from outside. They never throw, not even for a revoked proxy or an object with a throwing getter. */

/** Whether a value is an array; a revoked proxy is not. */
export function isList(value: unknown): value is readonly unknown[] {
  return answered(() => Array.isArray(value));
}

/** Whether a value is an object and not an array; false if the test throws. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && answered(() => !Array.isArray(value));
}

/** Whether it has a function of that name, its own or inherited. */
export function hasFunction(value: unknown, name: string | symbol): boolean {
  if (typeof value !== "object" || value === null) return false;
  return answered(() => typeof (value as Record<string | symbol, unknown>)[name] === "function");
}

/** Whether it is an instance of this class. */
export function isMadeBy<T>(
  value: unknown,
  maker: abstract new (...given: never) => T,
): value is T {
  return answered(() => value instanceof maker);
}

function answered(ask: () => boolean): boolean {
  try {
    return ask();
  } catch {
    return false;
  }
}
