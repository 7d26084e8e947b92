/** Listen options: a listener can remove itself after one event or when a signal aborts. */
import { argument, SIGNAL } from "./argument-checks.ts";
import { misuse } from "./errors.ts";
import { TRUTH } from "./fields.ts";

/**
 * How long a listener stays. Without options it stays until the function that `on` returned is called.
 *
 * @example
 * frontier.on("idle", () => console.log("nothing is pending"), { once: true });
 */
export interface ListenOptions {
  /**
   * Removes the listener when it aborts. A signal that has aborted already adds no listener.
   * @defaultValue none
   */
  signal?: AbortSignal | undefined;
  /**
   * Removes the listener before its first event is delivered.
   * @defaultValue false
   */
  once?: boolean | undefined;
}

type Listener = (payload: never) => unknown;
type Off = () => void;

const readOptions = argument<ListenOptions>("options", { signal: SIGNAL, once: TRUTH });

/** Checks the arguments of `on`. The returned function adds the listener and returns its removal. */
export function readListening(
  listener: Listener,
  options?: ListenOptions,
): (add: (listener: Listener) => Off) => Off {
  if (typeof listener !== "function") {
    throw misuse("ARGUMENT_INVALID", "listener", listener, "a function");
  }
  const { signal, once = false } = readOptions(options);
  if (signal === undefined && !once) return (add) => add(listener);
  if (signal?.aborted === true) return () => () => undefined;
  return (add) => {
    let isOver = false;
    const off = add((payload) => {
      if (isOver) return;
      if (once) leave();
      return listener(payload);
    });
    const leave = (): void => {
      isOver = true;
      off();
      signal?.removeEventListener("abort", leave);
    };
    signal?.addEventListener("abort", leave, { once: true });
    return leave;
  };
}
