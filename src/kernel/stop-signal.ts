/**
 * Part of an `AbortSignal` that code needs to wait for an end. Every `AbortSignal` is a `StopSignal`; a signal for a single
 * request or turn may be lighter, since the platform's signal costs several microseconds.
 */
export type StopSignal = {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(
    type: 'abort',
    listener: () => void,
    options?: { readonly once?: boolean },
  ): void;
  removeEventListener(type: 'abort', listener: () => void): void;
};

/** Returns a platform `AbortSignal` that aborts together with `stop`, for interfaces that accept no other signal. */
export function abortSignalOf(stop: StopSignal): AbortSignal {
  if (stop instanceof AbortSignal) return stop;
  const known = platformSignals.get(stop);
  if (known !== undefined) return known;
  const controller = new AbortController();
  platformSignals.set(stop, controller.signal);
  const abort = () => controller.abort(stop.reason);
  if (stop.aborted) abort();
  else stop.addEventListener('abort', abort, { once: true });
  return controller.signal;
}

/** Platform signal of each stop signal: without this map, a turn with many requests would add as many listeners. */
const platformSignals = new WeakMap<StopSignal, AbortSignal>();
