import type { Clock } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/random.ts';

/**
 * Layer between a session and everything outside it: the recorder or the player. The clock stands still while one arrival is
 * handled, so that the session's behaviour follows from its arrivals alone.
 */
export interface RecordingStage {
  readonly clock: Clock;
  readonly random: Random;
  /** Wraps `target` under its name in recordings. Calls pass through, and so do calls of results that have methods. */
  between<T extends object>(name: string, target: T): T;
}

const SENT: ReadonlySet<string> = new Set([
  'client.send',
  'client.close',
  'upstream.send',
  'upstream.close',
]);

/** Returns true when a call is a session's output: sent frames, and events of a phone call. A replay must repeat them. */
export const isOutput = (path: string): boolean => SENT.has(path) || path.startsWith('events.');

/** Paths of calls that run their argument at once. The calls themselves are not recorded. */
export const PASSED_ON: ReadonlySet<string> = new Set(['client.batch']);

/** The methods of a session that its socket calls. */
export type Driven = {
  socketClosed(): void;
  /**
   * Returns the arguments of a call that a recording stores. Called right before the call. When it is absent, all arguments are
   * stored.
   */
  taped?(name: string, args: readonly unknown[]): readonly unknown[];
};
export type ClosableSocket = { close(code: number, reason?: string): void };

/** Calls a method of a session in place of its socket. Closes the session when the method throws, as the socket would. */
export function drive(
  session: Driven,
  call: {
    readonly name: string;
    readonly args: readonly unknown[];
    readonly client: ClosableSocket | undefined;
    readonly failed: (error: unknown) => void;
  },
): void {
  const { args, client, failed, name } = call;
  try {
    Reflect.apply(Reflect.get(session, name, session), session, args);
  } catch (error) {
    failed(error);
    client?.close(1011, 'internal_error');
    session.socketClosed();
  }
}

/** Replaces the arguments that will be called back: members named `listener`, and the argument of a `listen` call. */
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

/** Returns true when a value has methods, and so is more than data. */
export function isLive(value: unknown): value is object {
  if (!isRecord(value) || ArrayBuffer.isView(value) || value instanceof Date) return false;
  for (let at: object = value; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    const names = Object.getOwnPropertyNames(at).filter((name) => name !== 'constructor');
    if (names.some((name) => isFunction(Object.getOwnPropertyDescriptor(at, name)))) return true;
    if (Object.getPrototypeOf(at) === null) break;
  }
  return false;
}

export const isInPieces = (value: unknown): value is AsyncIterable<unknown> =>
  isRecord(value) && Symbol.asyncIterator in value;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isFunction = (property: PropertyDescriptor | undefined): boolean =>
  typeof property?.value === 'function';
