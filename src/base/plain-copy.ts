/** Plain copies: what a user gave, kept as it was then, and what stands over what. */

/** A copy that its giver can not change any more; functions stay themselves. */
export function plainCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => plainCopy(one as unknown)) as T;
  const copy: Record<string, unknown> = {};
  for (const field of Object.keys(value)) {
    copy[field] = plainCopy((value as Record<string, unknown>)[field]);
  }
  return copy as T;
}

/** Its fields that are given: one that is undefined is not there, and stands over nothing. */
export function givenOf<T extends object>(options: T): T {
  const fields = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as T;
}
