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
  let controller = platformsOwn.get(stop);
  if (controller !== undefined) return controller.signal;
  controller = new AbortController();
  const { signal } = controller;
  platformsOwn.set(stop, controller);
  const abort = () => platformsOwn.get(stop)?.abort(stop.reason);
  if (stop.aborted) abort();
  else stop.addEventListener('abort', abort, { once: true });
  return signal;
}

/** One for each: a turn with many requests would gather as many listeners. */
const platformsOwn = new WeakMap<StopSignal, AbortController>();
