import type { CarrierStatus } from '../../../src/phone/carriers/carrier.ts';
import type { Callbacks, Parameters } from './callbacks.ts';
import { MediaStream } from './media-stream.ts';
import type { Callee, Faults } from './options.ts';
import type { Heard } from './playback.ts';
import { type SimRecording, stopRecording } from './recordings.ts';
import { runTwiml } from './run-twiml.ts';
import type { SimTime } from './sim-time.ts';
import { Voice } from './voice.ts';

export type SimCallDeps = {
  readonly time: SimTime;
  readonly callbacksOf: (faults: Faults) => Callbacks;
  readonly faults: Faults;
  readonly reach: (url: string) => string;
  readonly accountSid: string;
  readonly calleeOf: (call: { from: string; to: string }) => Callee;
};

/** What the server has asked for when it placed the call, or when it bought the number that is called. */
export type CallSettings = {
  readonly url: string;
  readonly statusCallback?: string | undefined;
  readonly machineCallback?: string | undefined;
  /** It says who has answered as soon as it knows, and does not wait for the end of a greeting. */
  readonly detectsAtOnce?: boolean;
  readonly timeoutMs: number;
  readonly timeLimitMs: number;
};

type Party = { readonly sid: string; readonly from: string; readonly to: string };

/** One call of the carrier, from its placing to its end. */
export class SimCall {
  readonly sid: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'outbound-api' | 'inbound';
  readonly settings: CallSettings;
  readonly streams: MediaStream[] = [];
  /** What was played to the far side by `<Play digits>`. */
  readonly digitsHeard: string[] = [];
  /** Numbers that the call was connected to, with what came of it. */
  readonly transfers: {
    readonly to: string;
    readonly status: string;
    /** What that number was told before it was connected. */
    readonly whispered?: string;
  }[] = [];
  /** Resolves when the call is over and every callback about it has arrived. */
  readonly over: Promise<void>;
  status: CarrierStatus = 'queued';
  durationSeconds: number | null = null;
  endedAtMs: number | undefined;
  /** Grows with each set of instructions: those of an older one run no further. */
  generation = 0;
  readonly recordings: SimRecording[] = [];
  readonly deps: SimCallDeps;
  readonly callee: Callee;
  readonly callbacks: Callbacks;
  readonly faults: Faults;
  readonly #voice = new Voice();
  #isSpeaking = false;
  #answeredAtMs: number | undefined;
  #sequence = 0;
  #end = () => {};

  constructor(
    deps: SimCallDeps,
    party: Party,
    direction: SimCall['direction'],
    settings: CallSettings,
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
    this.callbacks = deps.callbacksOf(this.faults);
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get isOver(): boolean {
    return this.endedAtMs !== undefined;
  }

  get isAnswered(): boolean {
    return this.#answeredAtMs !== undefined;
  }

  get stream(): MediaStream | undefined {
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

  /** Rings, and goes on as the script of the far side says. */
  async place(): Promise<void> {
    const { time } = this.deps;
    const { answers = 'human', ringMs = 100 } = this.callee;
    this.report('queued');
    if (answers === 'failed') return this.finish('failed');
    await time.sleep(Math.min(ringMs, 20));
    if (this.isOver) return;
    this.report('ringing');
    const { timeoutMs } = this.settings;
    if (answers === 'no-answer' || ringMs >= timeoutMs) {
      await time.sleep(Math.min(this.callee.ringMs ?? timeoutMs, timeoutMs));
      return this.finish('no-answer');
    }
    await time.sleep(ringMs);
    if (this.isOver) return;
    if (answers === 'busy') return this.finish('busy');
    this.answer();
    if (this.settings.machineCallback !== undefined) this.#recognise(answers);
    await this.obey(this.settings.url);
  }

  answer(): void {
    if (this.isAnswered || this.isOver) return;
    const { time } = this.deps;
    this.#answeredAtMs = time.now();
    this.report('in-progress');
    time.after(this.settings.timeLimitMs, () => this.finish('completed'));
    const { hangsUpAtMs } = this.callee;
    if (hangsUpAtMs !== undefined) time.after(hangsUpAtMs, () => this.hangUp());
  }

  /** The far side says something from now on, beside its script. Returns when it will have been said. */
  say(bytes: Uint8Array): Promise<void> {
    return this.deps.time.sleep(this.#voice.say(this.sinceAnswerMs(), bytes));
  }

  /** The far side hangs up. */
  hangUp(): void {
    this.finish(this.isAnswered ? 'completed' : 'canceled');
  }

  /** Asks the server for instructions, and follows them. */
  async obey(url: string, more: Parameters = {}): Promise<void> {
    const generation = ++this.generation;
    const answer = await this.callbacks.ask(url, { ...this.parameters(), ...more });
    if (generation !== this.generation) return;
    if (answer.status !== 200) return this.finish('completed');
    await runTwiml(this, answer.body);
  }

  /** Leaves what it does for other instructions. */
  async instruct(twiml: string): Promise<void> {
    this.generation++;
    this.stream?.stop();
    await runTwiml(this, twiml);
  }

  /** Opens a stream and resolves when it is closed. */
  async connect(url: string, parameters: Parameters): Promise<void> {
    const { time, reach, accountSid } = this.deps;
    const { callbacks, faults } = this;
    if (faults.opensNoStream) return new Promise(() => {});
    const dropsAtMs = faults.dropsSocketAtMs;
    faults.dropsSocketAtMs = undefined;
    const stream = new MediaStream({
      time,
      url,
      reachedAt: reach(url),
      signature: callbacks.sign(url, {}),
      accountSid,
      callSid: this.sid,
      streamSid: `MZ${this.sid.slice(2, 32)}${String(this.streams.length).padStart(2, '0')}`,
      parameters,
      dropsAtMs,
      markDelayMs: () => faults.markDelayMs,
      doublesMarks: () => faults.doublesMarks,
      soundAt: (atMs) => this.#voice.soundAt(atMs),
      sinceAnswerMs: () => this.sinceAnswerMs(),
      began: (atMs) => this.#speak(atMs),
    });
    this.streams.push(stream);
    await stream.closed;
  }

  finish(status: CarrierStatus): void {
    if (this.isOver) return;
    this.generation++;
    this.endedAtMs = this.deps.time.now();
    this.durationSeconds = this.isAnswered ? Math.ceil(this.sinceAnswerMs() / 1_000) : 0;
    this.stream?.stop();
    this.report(status);
    stopRecording(this);
    void this.callbacks.flush().then(this.#end);
  }

  report(status: CarrierStatus): void {
    this.status = status;
    const isLast = this.isOver;
    const { statusCallback } = this.settings;
    // Of an incoming call, Twilio reports the end alone.
    if (this.direction === 'inbound' && !isLast) return;
    this.callbacks.status(statusCallback, {
      ...this.parameters(),
      CallStatus: status === 'queued' ? 'initiated' : status,
      CallbackSource: 'call-progress-events',
      SequenceNumber: String(this.#sequence++),
      Timestamp: new Date().toUTCString(),
      ...(isLast && { CallDuration: String(this.durationSeconds), Duration: '1' }),
    });
  }

  parameters(): Parameters {
    return {
      CallSid: this.sid,
      AccountSid: this.deps.accountSid,
      From: this.from,
      To: this.to,
      CallStatus: this.status,
      Direction: this.direction,
      ApiVersion: '2010-04-01',
    };
  }

  #recognise(answeredBy: string): void {
    const { time } = this.deps;
    time.after(this.callee.recognisedAtMs ?? 500, () => {
      if (this.isOver) return;
      this.callbacks.status(this.settings.machineCallback, {
        CallSid: this.sid,
        AccountSid: this.deps.accountSid,
        AnsweredBy:
          this.settings.detectsAtOnce && answeredBy.startsWith('machine_')
            ? 'machine_start'
            : answeredBy,
        MachineDetectionDuration: '500',
      });
    });
  }

  /** What the far side says in the frame that begins then. */
  soundAt(atMs: number): Uint8Array {
    return this.#voice.soundAt(atMs);
  }

  /** The first stream begins, and the script of the far side with it. */
  #speak(beganAtMs: number): void {
    if (this.#isSpeaking) return;
    this.#isSpeaking = true;
    const { says = [], presses = [] } = this.callee;
    for (const { atMs, bytes } of says) this.#voice.say(beganAtMs + atMs, bytes);
    for (const { atMs, digit } of presses) {
      this.deps.time.after(atMs, () => this.stream?.press(digit));
    }
  }
}
