import type { CarrierStatus } from '../../../src/phone/carriers/carrier.ts';
import type { Callbacks, Parameters } from './callbacks.ts';
import { MediaStream } from './media-stream.ts';
import type { Faults } from './options.ts';
import { type SimRecording, stopRecording } from './recordings.ts';
import { runTwiml } from './run-twiml.ts';
import { type CallLimits, ScriptedCall, type ScriptedCallDeps } from './scripted-call.ts';

export type SimCallDeps = ScriptedCallDeps & {
  readonly callbacksOf: (faults: Faults) => Callbacks;
  readonly accountSid: string;
};

/** What the server has asked for when it placed the call, or when it bought the number that is called. */
export type CallSettings = CallLimits & {
  readonly url: string;
  readonly statusCallback?: string | undefined;
  readonly machineCallback?: string | undefined;
  /** It says who has answered as soon as it knows, and does not wait for the end of a greeting. */
  readonly detectsAtOnce?: boolean;
};

type TwilioTypes = {
  readonly deps: SimCallDeps;
  readonly direction: 'outbound-api' | 'inbound';
  readonly settings: CallSettings;
  readonly stream: MediaStream;
};

/** How callbacks name states that are not named as in the API. */
const STATUS_NAMES: ReadonlyMap<CarrierStatus, string> = new Map([
  ['queued', 'initiated'],
  ['invalid', 'failed'],
]);

/** One call of Twilio. It follows the instructions that the server answers. */
export class SimCall extends ScriptedCall<TwilioTypes> {
  /** Numbers that the call was connected to, with what came of it. */
  readonly transfers: {
    readonly to: string;
    readonly status: string;
    /** What that number was told before it was connected. */
    readonly whispered?: string;
  }[] = [];
  /** Grows with each set of instructions: those of an older one run no further. */
  generation = 0;
  readonly recordings: SimRecording[] = [];
  readonly callbacks = this.deps.callbacksOf(this.faults);
  #sequence = 0;

  /** Rings, and goes on as the script of the far side says. */
  async place(): Promise<void> {
    const { answers, ringMs = 100 } = this.callee;
    this.report('queued');
    if (answers === 'failed' || answers === 'invalid') return this.finish(answers);
    await this.deps.time.sleep(Math.min(ringMs, 20));
    if (this.isOver) return;
    this.report('ringing');
    if (!(await this.ringsUntilPickedUp())) return;
    this.answer();
    if (this.settings.machineCallback !== undefined) this.#recognise();
    await this.obey(this.settings.url);
  }

  answer(): void {
    if (this.begin()) this.report('in-progress');
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
    const { dropsSocketAtMs: dropsAtMs, losesSocketAtMs: losesAtMs } = faults;
    faults.dropsSocketAtMs = undefined;
    faults.losesSocketAtMs = undefined;
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
      losesAtMs,
      stopsSoundAtMs: () => faults.stopsSoundAtMs,
      markDelayMs: () => faults.markDelayMs,
      doublesMarks: () => faults.doublesMarks,
      soundAt: (atMs) => this.soundAt(atMs),
      sinceAnswerMs: () => this.sinceAnswerMs(),
      began: (atMs) => this.speak(atMs),
    });
    this.streams.push(stream);
    await stream.closed;
  }

  protected override reportEnd(): Promise<void> {
    this.generation++;
    this.report(this.status);
    stopRecording(this);
    return this.callbacks.flush();
  }

  report(status: CarrierStatus): void {
    this.status = status;
    const isLast = this.isOver;
    const { statusCallback } = this.settings;
    // Of an incoming call, Twilio reports the end alone.
    if (this.direction === 'inbound' && !isLast) return;
    this.callbacks.status(statusCallback, {
      ...this.parameters(),
      CallStatus: STATUS_NAMES.get(status) ?? status,
      ...(status === 'invalid' && { SipResponseCode: '404' }),
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

  #recognise(): void {
    this.whenRecognised((answeredBy) => {
      const isMachine = answeredBy.startsWith('machine_');
      this.callbacks.status(this.settings.machineCallback, {
        CallSid: this.sid,
        AccountSid: this.deps.accountSid,
        AnsweredBy: this.settings.detectsAtOnce && isMachine ? 'machine_start' : answeredBy,
        MachineDetectionDuration: '500',
      });
    });
  }
}
