/**
 * The part of an `AbortSignal` that those need who wait for an end. Every `AbortSignal` is one; one that is made for a
 * single request or turn may be lighter, since the platform's own costs several microseconds.
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

/** The same for those who take nothing but the platform's. */
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

/** Each has one: a turn with many requests would otherwise gather as many listeners. */
const platformSignals = new WeakMap<StopSignal, AbortSignal>();
