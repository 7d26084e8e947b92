/** Type guards: what a value from outside is, where even the question may throw (a proxy that was revoked, an object whose getter does). */

/** Whether a value is an array; a revoked proxy is not. */
export function isList(value: unknown): value is readonly unknown[] {
  return answered(() => Array.isArray(value));
}

/** Whether it is an object and no list; one that can not be asked is neither. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && answered(() => !Array.isArray(value));
}

/** Whether it has a function of that name, be it its own or not. */
export function hasFunction(value: unknown, name: string | symbol): boolean {
  if (typeof value !== "object" || value === null) return false;
  return answered(() => typeof (value as Record<string | symbol, unknown>)[name] === "function");
}

/** Whether it was made by this class or one of its children. */
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
