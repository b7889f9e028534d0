import { isDeepStrictEqual } from 'node:util';
import { EngineBusy, UtteranceLost } from '../../engines/engine.ts';
import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { createSeededRandom, type Random } from '../../kernel/random.ts';
import { StageFailed } from '../session/voice-pipeline.ts';
import { maskSecrets } from './mask-secrets.ts';
import {
  type ClosableSocket,
  type Driven,
  drive,
  isOutput,
  PASSED_ON,
  type RecordingStage,
  replaceListeners,
} from './stage.ts';
import type { Arrival, Failure, SentRecord, Tape } from './tape.ts';

export type Replay = {
  /** Number of frames that the replay sent as recorded. */
  readonly frames: number;
  readonly difference: ReplayDifference | undefined;
};

/** First difference between a replay and its recording. */
export type ReplayDifference =
  | {
      readonly kind: 'frame';
      /** Number of the frame among all that the session sent, from 1. */
      readonly frame: number;
      readonly atMs: number;
      readonly expected: SentRecord | undefined;
      readonly actual: SentRecord | undefined;
    }
  /** The session made a different call from the recorded call: its code has changed. */
  | {
      readonly kind: 'course';
      readonly afterFrame: number;
      readonly atMs: number;
      readonly expected: string;
      readonly actual: string;
    };

type Call = {
  readonly path: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
};
type Method = (...args: readonly unknown[]) => unknown;
type Methods = Readonly<Record<string, Method>>;

/** Result of a call that is not in the recording. It can be called and awaited, and never resolves. */
const NEVER: object = new Proxy(() => {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => 0 : NEVER),
  apply: () => NEVER,
});

/** Replays a recording to a session: returns the recorded results, on a clock of its own. */
export class Player implements RecordingStage {
  readonly clock: Clock;
  readonly random: Random;
  readonly #tape: Tape;
  readonly #timers = new Map<number, () => void>();
  readonly #calls: Call[] = [];
  readonly #listeners: Methods[] = [];
  #client: ClosableSocket | undefined;
  #nowMs: number;
  #timerCount = 0;
  #answered = 0;
  #sent = 0;
  #difference: ReplayDifference | undefined;

  constructor(tape: Tape) {
    const { epochMs, monotonicMs, seed } = tape.header;
    this.#tape = tape;
    this.#nowMs = monotonicMs;
    this.random = createSeededRandom(seed);
    this.clock = {
      now: () => Math.round(epochMs + this.#nowMs - monotonicMs),
      monotonicMs: () => this.#nowMs,
      setTimeout: (callback) => this.#arm(callback),
      clearTimeout: (handle) => {
        this.#timers.delete((handle as { readonly id: number }).id);
      },
    };
  }

  /** Returns the first difference; undefined when there is none. */
  get difference(): ReplayDifference | undefined {
    return this.#difference;
  }

  /** Returns the number of frames sent so far as recorded. */
  get framesSent(): number {
    return this.#sent;
  }

  /** Ends the replay. A recorded frame that the session has not sent is a difference. */
  finish(): void {
    const expected = this.#tape.sent[this.#sent];
    if (expected !== undefined) this.#differs(expected, undefined);
  }

  /** Returns a stand-in that answers calls with the recorded results. The target itself is not used. */
  between<T extends object>(name: string, _target: T): T {
    return new Proxy({} as T, {
      get: (_, key) => {
        if (typeof key === 'symbol' || key === 'then') return undefined;
        const path = `${name}.${key}`;
        const answer = this.#tape.answers[this.#answered];
        if (answer?.[0] === 'get' && answer[1] === path) {
          this.#answered++;
          return answer[2];
        }
        if (answer?.[0] === 'part' && answer[1] === path) {
          this.#answered++;
          return this.between(path, {});
        }
        return (...args: unknown[]) => this.#call(path, args);
      },
    });
  }

  /** Delivers one recorded arrival to the session. */
  deliver(arrival: Arrival, session: Driven): void {
    this.#nowMs = arrival[1];
    switch (arrival[0]) {
      case 'in': {
        const [, , name, args] = arrival;
        if (name === 'attach') this.#client = this.between<ClosableSocket>('client', NO_SOCKET);
        const given = name === 'attach' ? [this.#client] : args;
        drive(session, { name, args: given, client: this.#client, failed() {} });
        break;
      }
      case 'timer':
        this.#fire(arrival[2]);
        break;
      case 'heard': {
        const [, , channel, name, args] = arrival;
        this.#listeners[channel]?.[name]?.(...args.map(revived));
        break;
      }
      case 'result': {
        const [, , call, kind, value] = arrival;
        const asked = this.#waiting(call);
        asked?.resolve(kind === 'live' ? this.between(asked.path, {}) : value);
        break;
      }
      case 'failed':
        this.#waiting(arrival[2])?.reject(errorOf(arrival[3]));
        break;
    }
  }

  #call(path: string, args: readonly unknown[]): unknown {
    if (PASSED_ON.has(path)) return (args[0] as () => void)();
    if (isOutput(path)) return this.#send(['out', path, args]);
    replaceListeners(path, args, (listener) => {
      this.#listeners.push(listener as Methods);
      return listener;
    });
    const answer = this.#tape.answers[this.#answered++];
    if (answer?.[0] !== 'call' || answer[1] !== path) {
      this.#astray(answer?.[1] ?? 'nothing more', path);
      return NEVER;
    }
    switch (answer[2]) {
      case 'value':
        return answer[3];
      case 'live':
        return this.between(path, {});
      case 'pieces':
        return { [Symbol.asyncIterator]: () => this.between(path, {}) };
      case 'thrown':
        throw errorOf(answer[3]);
      case 'later':
        return new Promise((resolve, reject) => {
          this.#calls[answer[3]] = { path, resolve, reject };
        });
    }
  }

  #send(actual: SentRecord): true {
    const expected = this.#tape.sent[this.#sent];
    // A full tape may have stopped before the last arrival was handled.
    if (expected === undefined && this.#tape.isFull) return true;
    if (expected !== undefined && isSame(expected, actual)) this.#sent++;
    else this.#differs(expected, actual);
    return true;
  }

  #arm(callback: () => void): TimerHandle {
    const id = this.#timerCount++;
    this.#timers.set(id, callback);
    return { id };
  }

  #fire(id: number): void {
    const callback = this.#timers.get(id);
    if (callback === undefined) this.#astray(`timer ${id}`, 'no such timer');
    this.#timers.delete(id);
    callback?.();
  }

  #waiting(call: number): Call | undefined {
    const waiting = this.#calls[call];
    if (waiting === undefined) this.#astray(`the result of call ${call}`, 'no such call');
    return waiting;
  }

  #differs(expected: SentRecord | undefined, actual: SentRecord | undefined): void {
    const frame = this.#sent + 1;
    this.#difference ??= { kind: 'frame', frame, atMs: this.#sinceMs, expected, actual };
  }

  #astray(expected: string, actual: string): void {
    // A full tape may have stopped before the last arrival was handled.
    if (this.#tape.isFull && this.#answered > this.#tape.answers.length) return;
    const place = { afterFrame: this.#sent, atMs: this.#sinceMs };
    this.#difference ??= { kind: 'course', ...place, expected, actual };
  }

  get #sinceMs(): number {
    return this.#nowMs - this.#tape.header.monotonicMs;
  }
}

const NO_SOCKET: ClosableSocket = { close() {} };

/** Compares two sent records: text or bytes, and the other arguments. */
function isSame([, path, args]: SentRecord, [, otherPath, otherArgs]: SentRecord): boolean {
  if (path !== otherPath || args.length !== otherArgs.length) return false;
  return args.every((arg, i) => {
    const other = maskSecrets(otherArgs[i]);
    if (arg instanceof Uint8Array && other instanceof Uint8Array)
      return Buffer.compare(arg, other) === 0;
    return isDeepStrictEqual(arg, other);
  });
}

function revived(arg: unknown): unknown {
  const isFailure = typeof arg === 'object' && arg !== null && 'failure' in arg;
  return isFailure ? errorOf(arg.failure as Failure) : arg;
}

/** Rebuilds a recorded error with the class that the session checks for. */
function errorOf({ cause, code, name, message, retryAfterSeconds }: Failure): Error {
  if (cause !== undefined) return new UtteranceLost(message, { cause: errorOf(cause) });
  if (code !== undefined) return new StageFailed(code, message);
  if (name === 'EngineBusy') return new EngineBusy(retryAfterSeconds ?? 0);
  return Object.assign(new Error(message), { name });
}
