import type { CarrierStatus } from '../../../src/phone/carriers/carrier.ts';
import type { Callee, Faults } from './options.ts';
import type { Heard } from './playback.ts';
import type { SimTime } from './sim-time.ts';
import { Voice } from './voice.ts';

/** What every simulated carrier has for its calls. */
export type ScriptedCallDeps = {
  readonly time: SimTime;
  readonly faults: Faults;
  readonly reach: (url: string) => string;
  readonly calleeOf: (call: { readonly from: string; readonly to: string }) => Callee;
};

/** How long a call may ring, and how long it may last once it is answered. */
export type CallLimits = { readonly timeoutMs: number; readonly timeLimitMs: number };

type LineStream = {
  readonly playback: { readonly heard: readonly Heard[] };
  press(digit: string): void;
  /** Ends the stream as the carrier does. */
  stop(): void;
};

/** What differs from carrier to carrier. */
type CallTypes = {
  readonly deps: ScriptedCallDeps;
  readonly direction: string;
  readonly settings: CallLimits;
  readonly stream: LineStream;
};

type Party = { readonly sid: string; readonly from: string; readonly to: string };

/**
 * One call of a simulated carrier, from its placing to its end. The far side follows its script: it rings, answers,
 * speaks, presses keys, hears and hangs up. A subclass reports that as its carrier does, and opens the carrier's streams.
 */
export abstract class ScriptedCall<Of extends CallTypes> {
  readonly sid: string;
  readonly from: string;
  readonly to: string;
  readonly direction: Of['direction'];
  readonly settings: Of['settings'];
  readonly deps: Of['deps'];
  readonly callee: Callee;
  readonly faults: Faults;
  readonly streams: Of['stream'][] = [];
  /** Keys that the server has pressed for the far side. */
  readonly digitsHeard: string[] = [];
  /** Resolves when the call is over and everything that is reported of it has arrived. */
  readonly over: Promise<void>;
  status: CarrierStatus = 'queued';
  durationSeconds: number | null = null;
  endedAtMs: number | undefined;
  readonly #voice = new Voice();
  #isSpeaking = false;
  #answeredAtMs: number | undefined;
  #end = () => {};

  constructor(
    deps: Of['deps'],
    party: Party,
    direction: Of['direction'],
    settings: Of['settings'],
    callee: Callee,
  ) {
    this.deps = deps;
    this.sid = party.sid;
    this.from = party.from;
    this.to = party.to;
    this.direction = direction;
    this.settings = settings;
    this.callee = callee;
    this.faults = callee.faults === undefined ? deps.faults : { ...deps.faults, ...callee.faults };
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Reports the end of a call that has just ended. Resolves when all that was reported of it has arrived. */
  protected abstract reportEnd(): Promise<void>;

  get isOver(): boolean {
    return this.endedAtMs !== undefined;
  }

  get isAnswered(): boolean {
    return this.#answeredAtMs !== undefined;
  }

  get stream(): Of['stream'] | undefined {
    return this.streams.at(-1);
  }

  /** Everything that the far side has heard, over all streams. */
  get heard(): readonly Heard[] {
    return this.streams.flatMap(({ playback }) => playback.heard);
  }

  get heardBytes(): Buffer {
    return Buffer.concat(this.heard.map(({ bytes }) => bytes));
  }

  sinceAnswerMs(): number {
    return this.#answeredAtMs === undefined ? 0 : this.deps.time.now() - this.#answeredAtMs;
  }

  /** The far side says something from now on, beside its script. Returns when it will have been said. */
  say(bytes: Uint8Array): Promise<void> {
    return this.deps.time.sleep(this.#voice.say(this.sinceAnswerMs(), bytes));
  }

  /** What the far side says in the frame that begins then. */
  soundAt(atMs: number): Uint8Array {
    return this.#voice.soundAt(atMs);
  }

  /** The far side hangs up. */
  hangUp(): void {
    this.finish(this.isAnswered ? 'completed' : 'canceled');
  }

  finish(status: CarrierStatus): void {
    if (this.isOver) return;
    this.endedAtMs = this.deps.time.now();
    this.status = status;
    this.durationSeconds = this.isAnswered ? Math.ceil(this.sinceAnswerMs() / 1_000) : 0;
    this.stream?.stop();
    void this.reportEnd().then(this.#end);
  }

  /** Rings as long as the script says. True: the far side picks up now; otherwise the call is over. */
  protected async ringsUntilPickedUp(): Promise<boolean> {
    const { time } = this.deps;
    const { timeoutMs } = this.settings;
    const { answers, ringMs = 100 } = this.callee;
    if (answers === 'no-answer' || ringMs >= timeoutMs) {
      await time.sleep(Math.min(this.callee.ringMs ?? timeoutMs, timeoutMs));
      this.finish('no-answer');
    } else {
      await time.sleep(ringMs);
      if (answers === 'busy') this.finish('busy');
    }
    return !this.isOver;
  }

  /** The call is answered, and ends as the script or its limit says. False: it was answered or over before. */
  protected begin(): boolean {
    if (this.isAnswered || this.isOver) return false;
    const { time } = this.deps;
    this.#answeredAtMs = time.now();
    this.status = 'in-progress';
    time.after(this.settings.timeLimitMs, () => this.finish('completed'));
    const { hangsUpAtMs } = this.callee;
    if (hangsUpAtMs !== undefined) time.after(hangsUpAtMs, () => this.hangUp());
    return true;
  }

  /** Runs it with what has answered when the carrier recognises that, unless the call is over by then. */
  protected whenRecognised(report: (answeredBy: string) => void): void {
    const { answers = 'human', recognisedAtMs = 500 } = this.callee;
    this.deps.time.after(recognisedAtMs, () => this.isOver || report(answers));
  }

  /** A stream begins; with the first one, so does what the script says and presses. */
  protected speak(beganAtMs: number): void {
    if (this.#isSpeaking) return;
    this.#isSpeaking = true;
    const { says = [], presses = [] } = this.callee;
    for (const { atMs, bytes } of says) this.#voice.say(beganAtMs + atMs, bytes);
    for (const { atMs, digit } of presses) {
      this.deps.time.after(atMs, () => this.stream?.press(digit));
    }
  }
}
