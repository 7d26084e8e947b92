/** HookFault: why a function of the user's gave no answer, kept as a value until somebody can be told. */

/** What it threw, or what is wrong with what it answered. */
export interface HookFault {
  readonly cause: unknown;
}

/** Whether a function gave none, where its answer would be a text. */
export function isHookFault<T extends string | undefined>(
  answer: T | HookFault,
): answer is HookFault {
  return typeof answer === "object";
}
