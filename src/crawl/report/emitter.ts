/** Listeners by event: called at once, in the order of their `on`. An error of a listener is reported and stops nothing. */
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

export function createEmitter<E>(onThrow: (cause: unknown) => void): Emitter<E> {
  const listeners = new Map<keyof E, Set<(payload: never) => void>>();
  let isTelling = false;
  return {
    on(event, listener, options) {
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
          listener(payload as never);
        } catch (cause) {
          // A listener of faults that throws about a fault would never end.
          if (isTelling) continue;
          isTelling = true;
          onThrow(cause);
          isTelling = false;
        }
      }
    },
  };
}
