/** Results that come at once from a frontier of this thread, and later from one that is elsewhere. */

/** A result, or the promise of it. */
export type Soon<T> = T | Promise<T>;

/** Whether a call on the frontier went elsewhere, to another thread or machine. */
export function isLater<T>(value: T): value is Extract<T, Promise<unknown>> {
  return value instanceof Promise;
}

/** Goes on with a result: at once, or when it comes. A promise costs more than most calls of a frontier of this thread. */
export function whenKnown<T, R>(value: T | Promise<T>, goOn: (value: T) => Soon<R>): Soon<R> {
  return isLater(value) ? (value as Promise<T>).then(goOn) : goOn(value as T);
}

/** For a result that is not awaited: whether it failed shows in what follows. */
export function ignoreLater(value: boolean | Promise<boolean>): void {
  if (isLater(value)) value.catch(() => undefined);
}
