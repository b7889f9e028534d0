import type { Ending } from '../../../../machines/transcription-stream.ts';
import { stageVoice } from '../../../voice/recording/record-session.ts';
import type { RecordingStage } from '../../../voice/recording/stage.ts';
import type { VoiceSessionDeps } from '../../../voice/session/voice-session-input.ts';
import type { MediaEvent } from '../../carriers/carrier.ts';
import { createLoopbackCodec } from '../../carriers/loopback/loopback-codec.ts';
import type { LineConnection } from '../../voice/line/call-line.ts';
import { LiveCall } from '../live-call.ts';
import type { LiveCallEvents, LiveCallOptions } from '../live-call-options.ts';

type Events = Required<LiveCallEvents> & Pick<LiveCallOptions, 'spoke'>;
type Callback = (...args: unknown[]) => unknown;

/** Placeholder for a function among recorded arguments. */
const CALLBACK = { isCallback: true } as const;

const NO_EVENTS: Events = {
  said() {},
  heard() {},
  interrupted() {},
  act() {},
  words() {},
  digit() {},
  answered() {},
  callTool() {},
  callerSpoke() {},
  handOff() {},
  entered() {},
  announced() {},
  notAnnounced() {},
  detached() {},
  attached() {},
  over() {},
  spoke() {},
};

/**
 * A call that can be recorded and replayed. Its inputs are calls of `attach` and `perform`; its outputs are its events and the
 * messages of its line, always in the loopback's format. Digits of a sensitive entry are masked.
 */
export class StagedCall {
  readonly call: LiveCall;
  /** Promise that resolves when the call is settled and the peer has heard the last words, or the process stops. */
  readonly settled: Promise<void>;
  readonly #stage: RecordingStage;
  #noMore = () => {};

  constructor(
    stage: RecordingStage,
    deps: VoiceSessionDeps,
    options: Omit<LiveCallOptions, 'codec' | 'events' | 'spoke'> & {
      readonly events?: Partial<Events>;
    },
  ) {
    const over = new Promise<void>((resolve) => {
      this.#noMore = resolve;
    });
    const { spoke, ...events } = this.#events(stage, options.events ?? {});
    this.#stage = stage;
    const staged = stageVoice(stage, deps, options.input);
    this.call = new LiveCall(staged.deps, {
      ...options,
      input: staged.input,
      codec: createLoopbackCodec(),
      events,
      spoke,
    });
    this.settled = Promise.all([this.call.settled, over]).then(() => {});
  }

  attach(connection: LineConnection): void {
    this.call.attach(connection);
  }

  socketClosed(): void {
    this.call.hungUp();
  }

  /** Calls a method of the call or of one of its parts, such as `actions.mute`. `done` receives the result. */
  perform(path: string, args: readonly unknown[], done?: (result: unknown) => void): void {
    if (path === 'abandon') this.#noMore();
    let result: unknown;
    try {
      const names = path.split('.');
      const method = names.pop() ?? '';
      const part = names.reduce<object>((at, name) => Reflect.get(at, name), this.call);
      const given = args.map((arg) => this.#staged(arg));
      result = Reflect.apply(Reflect.get(part, method), part, given);
    } finally {
      done?.(result);
    }
  }

  taped(name: string, args: readonly unknown[]): readonly unknown[] {
    if (name !== 'perform') return args;
    const [path, given] = args as [string, readonly unknown[]];
    if (path === 'media') return [path, [this.#masked(given[0] as MediaEvent)]];
    return [path, given.map((arg) => (typeof arg === 'function' ? CALLBACK : arg))];
  }

  #masked(event: MediaEvent): MediaEvent {
    if (event.kind !== 'digit') return event;
    return { ...event, digit: this.call.actions.writtenAs(event.digit) };
  }

  /** Wraps a function that the call gets from outside, so that its results are recorded. */
  #staged(arg: unknown): unknown {
    const isFunction = typeof arg === 'function';
    const isRecorded = typeof arg === 'object' && arg !== null && 'isCallback' in arg;
    if (!isFunction && !isRecorded) return arg;
    const callback = this.#stage.between('callback', {
      run: isFunction ? (arg as Callback) : () => {},
    });
    return (...args: unknown[]) => callback.run(...args);
  }

  /** Returns callbacks that write each event to the recording before they call the real callback. */
  #events(stage: RecordingStage, real: Partial<Events>): Events {
    const written = stage.between('events', NO_EVENTS);
    return {
      said: both(written.said, real.said),
      heard: both(written.heard, real.heard),
      interrupted: both(written.interrupted, real.interrupted),
      act: both(written.act, real.act),
      // Words in progress go to readers of the live call, and are no output of the call.
      words: real.words ?? NO_EVENTS.words,
      digit: both((digit) => written.digit(this.call.actions.writtenAs(digit)), real.digit),
      answered: both(written.answered, real.answered),
      callTool: both(written.callTool, real.callTool),
      callerSpoke: both(written.callerSpoke, real.callerSpoke),
      handOff: both(written.handOff, real.handOff),
      entered: both((digits) => written.entered('0'.repeat(digits.length)), real.entered),
      announced: both(written.announced, real.announced),
      notAnnounced: both(written.notAnnounced, real.notAnnounced),
      detached: both(written.detached, real.detached),
      attached: both(written.attached, real.attached),
      over: both<[Ending]>(both(written.over, real.over), () => this.#noMore()),
      spoke: both(written.spoke, real.spoke),
    };
  }
}

const both =
  <A extends readonly unknown[]>(
    first: (...args: A) => void,
    second: ((...args: A) => void) | undefined,
  ) =>
  (...args: A): void => {
    first(...args);
    second?.(...args);
  };
