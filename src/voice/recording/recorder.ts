import { UtteranceLost } from '../../engines/engine.ts';
import { type Clock, soon, type TimerHandle } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { createSeededRandom, type Random } from '../../kernel/random.ts';
import type { TapeSink } from '../live/tape-folder.ts';
import { StageFailed } from '../session/voice-pipeline.ts';
import { maskSecrets } from './mask-secrets.ts';
import {
  type ClosableSocket,
  type Driven,
  drive,
  isInPieces,
  isLive,
  isOutput,
  PASSED_ON,
  type RecordingStage,
  replaceListeners,
} from './stage.ts';
import {
  type Arrival,
  encodeHeader,
  encodeRecord,
  type Failure,
  type TapedInput,
  type TapeRecord,
} from './tape.ts';

type Timer = { readonly id: number; handle: TimerHandle | undefined };
type Method = (...args: never[]) => unknown;

/**
 * Records everything that reaches one live session and everything that it sends. Each arrival is delivered in its own event
 * loop turn and at its own time, and is replayed in the same way.
 */
export class Recorder implements RecordingStage {
  readonly clock: Clock;
  readonly random: Random;
  readonly #real: Clock;
  readonly #sink: TapeSink;
  readonly #log: Log;
  readonly #armed = new Set<Timer>();
  #client: ClosableSocket | undefined;
  #nowMs: number;
  #timers = 0;
  #calls = 0;
  #channels = 0;
  #isOver = false;

  constructor(options: {
    readonly clock: Clock;
    readonly seed: Uint8Array;
    readonly sink: TapeSink;
    readonly taped: TapedInput;
    readonly log: Log;
  }) {
    const { clock, log, seed, sink, taped } = options;
    const monotonicMs = clock.monotonicMs();
    const epochMs = clock.now();
    this.#real = clock;
    this.#sink = sink;
    this.#log = log;
    this.#nowMs = monotonicMs;
    this.random = createSeededRandom(seed);
    this.clock = {
      now: () => Math.round(epochMs + this.#nowMs - monotonicMs),
      monotonicMs: () => this.#nowMs,
      setTimeout: (callback, delayMs) => this.#arm(callback, delayMs),
      clearTimeout: (handle) => this.#disarm(handle as Timer),
    };
    this.#put(encodeHeader({ seed, epochMs, monotonicMs, ...taped }));
  }

  /** Wraps the session for its socket. Each call is recorded, and delivered after the calls before it. */
  driven<T extends Driven & { readonly settled: Promise<void> }>(session: T): T {
    void session.settled.then(() => this.#end('settled'));
    return new Proxy(session, {
      get: (_, key) => {
        const value: unknown = Reflect.get(session, key, session);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => this.#drive(session, String(key), args);
      },
    });
  }

  between<T extends object>(name: string, target: T): T {
    return new Proxy({} as T, {
      get: (_, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof key === 'symbol' || key === 'then') return value;
        const path = `${name}.${key}`;
        if (typeof value === 'function') {
          return (...args: unknown[]) => this.#call(path, target, value as Method, args);
        }
        if (isLive(value)) {
          this.#write(['part', path]);
          return this.between(path, value);
        }
        this.#write(['get', path, value]);
        return value;
      },
    });
  }

  #drive(session: Driven, name: string, args: readonly unknown[]): void {
    const isAttach = name === 'attach';
    // The caller may reuse its buffer.
    const kept = args.map((arg) => (arg instanceof Uint8Array ? Buffer.from(arg) : arg));
    if (isAttach) this.#client = this.between('client', args[0] as ClosableSocket);
    const given = isAttach ? [this.#client] : kept;
    const failed = (err: unknown) => this.#log.error({ err }, 'a recorded session failed');
    this.#arrive(
      (atMs) => {
        const taped = session.taped?.(name, kept) ?? kept;
        return ['in', atMs, name, isAttach ? [] : taped.map(maskSecrets)];
      },
      () => drive(session, { name, args: given, client: this.#client, failed }),
    );
  }

  #call(path: string, target: object, method: Method, args: readonly unknown[]): unknown {
    if (PASSED_ON.has(path)) return Reflect.apply(method, target, args);
    if (isOutput(path)) {
      this.#write(['out', path, args.map(maskSecrets)]);
      return Reflect.apply(method, target, args);
    }
    const given = replaceListeners(path, args, (listener) => this.#heard(listener));
    let result: unknown;
    try {
      result = Reflect.apply(method, target, given);
    } catch (error) {
      this.#write(['call', path, 'thrown', failureOf(error)]);
      throw error;
    }
    if (result instanceof Promise) return this.#later(path, result);
    if (isInPieces(result)) {
      const pieces = result;
      this.#write(['call', path, 'pieces']);
      return {
        [Symbol.asyncIterator]: () => this.between(path, pieces[Symbol.asyncIterator]()),
      };
    }
    if (isLive(result)) {
      this.#write(['call', path, 'live']);
      return this.between(path, result);
    }
    this.#write(['call', path, 'value', result]);
    return result;
  }

  #later(path: string, promise: Promise<unknown>): Promise<unknown> {
    const call = this.#calls++;
    this.#write(['call', path, 'later', call]);
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => {
          const live = isLive(value);
          this.#arrive(
            (atMs) => ['result', atMs, call, live ? 'live' : 'value', live ? null : value],
            () => resolve(live ? this.between(path, value) : value),
          );
        },
        (error: unknown) =>
          this.#arrive(
            (atMs) => ['failed', atMs, call, failureOf(error)],
            () => reject(error),
          ),
      );
    });
  }

  #heard(listener: object): object {
    const channel = this.#channels++;
    return new Proxy(listener, {
      get: (_, key) => {
        const method: unknown = Reflect.get(listener, key, listener);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) =>
          this.#arrive(
            (atMs) => ['heard', atMs, channel, String(key), args.map(recordable)],
            () => Reflect.apply(method, listener, args),
          );
      },
    });
  }

  #arm(callback: () => void, delayMs: number): Timer {
    const timer: Timer = { id: this.#timers++, handle: undefined };
    this.#armed.add(timer);
    timer.handle = this.#real.setTimeout(
      () =>
        this.#arrive(
          (atMs) => ['timer', atMs, timer.id],
          () => {
            this.#armed.delete(timer);
            callback();
          },
          () => this.#armed.has(timer),
        ),
      delayMs,
    );
    return timer;
  }

  #disarm(timer: Timer): void {
    this.#armed.delete(timer);
    if (timer.handle !== undefined) this.#real.clearTimeout(timer.handle);
  }

  /** Delivers an arrival in its own event loop turn. `still` returns false at delivery when the arrival is no longer needed. */
  #arrive(record: (atMs: number) => Arrival, pass: () => void, still = () => true): void {
    soon(() => {
      if (!still()) return;
      this.#nowMs = this.#real.monotonicMs();
      this.#write(record(this.#nowMs));
      pass();
    });
  }

  #write(record: TapeRecord): void {
    if (this.#isOver) return;
    try {
      this.#put(encodeRecord(record));
    } catch (err) {
      // The session goes on when its recording fails.
      this.#log.error({ err }, 'a recording ends early: an answer cannot be written');
      this.#end('full');
    }
  }

  #put(bytes: Buffer): void {
    if (!this.#sink.write(bytes)) this.#end('full');
  }

  #end(how: 'settled' | 'full'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink.end(encodeRecord(['end', how]));
  }
}

/**
 * Returns the value that is recorded for a listener's argument. An error becomes its fields, from which the replay rebuilds it.
 */
const recordable = (value: unknown): unknown =>
  value instanceof Error ? { failure: failureOf(value) } : maskSecrets(value);

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const retryAfterSeconds =
    'retryAfterSeconds' in error ? Number(error.retryAfterSeconds) : undefined;
  const code = error instanceof StageFailed ? error.code : undefined;
  const cause = error instanceof UtteranceLost ? failureOf(error.cause) : undefined;
  return { name: error.name, message: error.message, retryAfterSeconds, code, cause };
}
