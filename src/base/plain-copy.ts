/** Plain copies: what a user gave, kept as it was then. */

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
