/** Listeners by name: told at once, in order of coming; one that throws is reported and stops nothing. */

export interface Emitter<E> {
  on<K extends keyof E>(event: K, listener: (payload: E[K]) => void): () => void;
  emit<K extends keyof E>(event: K, payload: E[K]): void;
  /** Whether somebody listens. */
  isHeard(event: keyof E): boolean;
}

export function createEmitter<E>(onThrow: (cause: unknown) => void): Emitter<E> {
  const listeners = new Map<keyof E, Set<(payload: never) => void>>();
  let isTelling = false;
  return {
    on(event, listener) {
      const set = listeners.get(event) ?? new Set();
      listeners.set(event, set);
      set.add(listener);
      return () => set.delete(listener);
    },
    isHeard: (event) => (listeners.get(event)?.size ?? 0) > 0,
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
