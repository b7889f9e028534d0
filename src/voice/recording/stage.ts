import type { Clock } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/random.ts';

/**
 * What stands between a session and everything outside of it: live while it is recorded, or its recording. Time stands
 * still while one arrival is dealt with, so that what a session does follows from its arrivals alone.
 */
export interface RecordingStage {
  readonly clock: Clock;
  readonly random: Random;
  /**
   * `target` as the session may see it, under a name that recordings know it by. Calls, and what they answer now or
   * later, pass through; so do those of what is answered that can be called itself.
   */
  between<T extends object>(name: string, target: T): T;
}

/** Calls that are a session's output: replayed, they must come to the same, byte for byte. */
export const OUTPUTS: ReadonlySet<string> = new Set([
  ...['client.send', 'client.close', 'upstream.send', 'upstream.close'],
]);

/** Work that is done while it is called, and is not recorded. */
export const PASSED_ON: ReadonlySet<string> = new Set(['client.batch']);

/** A session as its socket drives it. */
export type Driven = { socketClosed(): void };
export type ClosableSocket = { close(code: number, reason?: string): void };

/** Tells a session something that its socket heard. One that fails over it is closed, as its socket would have it. */
export function tell(
  session: Driven,
  told: {
    readonly name: string;
    readonly args: readonly unknown[];
    readonly client: ClosableSocket | undefined;
    readonly failed: (error: unknown) => void;
  },
): void {
  const { args, client, failed, name } = told;
  try {
    Reflect.apply(Reflect.get(session, name, session), session, args);
  } catch (error) {
    failed(error);
    client?.close(1011, 'internal_error');
    session.socketClosed();
  }
}

/** Arguments with those replaced that will be called back: what is called `listener`, and what a `listen` is given. */
export function replaceListeners(
  path: string,
  args: readonly unknown[],
  replace: (listener: object) => object,
): unknown[] {
  return args.map((arg) => {
    if (!isRecord(arg)) return arg;
    if (path.endsWith('.listen')) return replace(arg);
    return isRecord(arg.listener) ? { ...arg, listener: replace(arg.listener) } : arg;
  });
}

/** Whether something can be called, and is therefore more than what it reads as. */
export function isLive(value: unknown): value is object {
  if (!isRecord(value) || ArrayBuffer.isView(value) || value instanceof Date) return false;
  for (let at: object = value; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    const names = Object.getOwnPropertyNames(at).filter((name) => name !== 'constructor');
    if (names.some((name) => isFunction(Object.getOwnPropertyDescriptor(at, name)))) return true;
    if (Object.getPrototypeOf(at) === null) break;
  }
  return false;
}

/** Whether it comes piece by piece. */
export const isInPieces = (value: unknown): value is AsyncIterable<unknown> =>
  isRecord(value) && Symbol.asyncIterator in value;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isFunction = (property: PropertyDescriptor | undefined): boolean =>
  typeof property?.value === 'function';
