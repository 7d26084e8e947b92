/** Listeners by event: called at once, in the order of their `on`. An error of a listener is reported and stops nothing. */
import { misuse } from "../../base/errors.ts";
import { type ListenOptions, readListening } from "../../base/listen-options.ts";

export interface Emitter<E> {
  on<K extends keyof E>(
    event: K,
    listener: (payload: E[K]) => void,
    options?: ListenOptions,
  ): () => void;
  emit<K extends keyof E>(event: K, payload: E[K]): void;
  /** Whether there is a listener. */
  hasListener(event: keyof E): boolean;
}

/** `names`: the events there are; a listener of any other is refused. */
export function createEmitter<E>(
  names: ReadonlyArray<keyof E>,
  onThrow: (cause: unknown) => void,
): Emitter<E> {
  const listeners = new Map<keyof E, Set<(payload: never) => unknown>>();
  let isReporting = false;
  const report = (cause: unknown): void => {
    // A listener of faults that throws for each fault would recurse without end.
    if (isReporting) return;
    isReporting = true;
    onThrow(cause);
    isReporting = false;
  };
  return {
    on(event, listener, options) {
      if (!names.includes(event))
        throw misuse("ARGUMENT_INVALID", "event", event, `one of ${names.join(", ")}`);
      const set = listeners.get(event) ?? new Set();
      listeners.set(event, set);
      const listen = readListening(listener, options);
      return listen((own) => {
        set.add(own);
        return () => set.delete(own);
      });
    },
    hasListener: (event) => (listeners.get(event)?.size ?? 0) > 0,
    emit(event, payload) {
      for (const listener of listeners.get(event) ?? []) {
        try {
          const answer = listener(payload as never);
          // Of faults a late one is dropped: each would bring the next.
          if (answer instanceof Promise) answer.catch(event === "error" ? () => undefined : report);
        } catch (cause) {
          report(cause);
        }
      }
    },
  };
}
