import { decodeMulaw, encodeMulaw } from '../../media/mulaw.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { Responder } from '../../src/phone/calls/call-deps.ts';
import { LiveCall } from '../../src/phone/calls/live-call.ts';
import type { LiveCallOptions } from '../../src/phone/calls/live-call-options.ts';
import { createLoopbackCodec } from '../../src/phone/carriers/loopback/loopback-codec.ts';
import { type Callee, LoopbackLine } from '../../src/phone/carriers/loopback/loopback-line.ts';
import { PHONE_LIMITS } from '../../src/phone/limits.ts';
import type { SaidTurn } from '../../src/phone/records/said-turn.ts';
import { type Metrics, noMetrics } from '../../src/platform/tracing/metrics.ts';
import type { VoiceDeps } from '../../src/voice/live/voice-deps.ts';
import { createVoiceMetrics } from '../../src/voice/live/voice-metrics.ts';
import { createScriptedLlm } from '../../src/voice/session/scripted-llm.ts';
import { DEFAULT_CONFIG } from '../../src/voice/session/session-config.ts';
import { SERVER_VAD } from '../../src/voice/session/turn-detection.ts';
import { ManualClock } from './manual-clock.ts';
import { openInputOn } from './realtime-session.ts';
import { type FakeEngines, tone } from './voice-fakes.ts';
import { settleAll } from './voice-world.ts';

const MULAW = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;
const FRAME_MS = 20;
const FRAME_SAMPLES = 160;
const LOUD = 500;

/** A person who says what a test gives, and notes each 20 ms whether something was heard. */
class NotingCallee implements Callee {
  readonly #clock: Clock;
  readonly #voice: (ms: number) => Int16Array;
  readonly #frames: Uint8Array[] = [];
  /** When the frames began that were heard with sound in them, by the clock of the line. */
  readonly heardAtMs: number[] = [];
  /** The same of the frames that were said. */
  readonly saidAtMs: number[] = [];
  isGone = false;

  constructor(clock: Clock, voice: (ms: number) => Int16Array) {
    this.#clock = clock;
    this.#voice = voice;
  }

  speak(ms: number): void {
    const pcm = this.#voice(ms);
    for (let at = 0; at + FRAME_SAMPLES <= pcm.length; at += FRAME_SAMPLES) {
      const frame = new Uint8Array(FRAME_SAMPLES);
      encodeMulaw(pcm.subarray(at, at + FRAME_SAMPLES), frame);
      this.#frames.push(frame);
    }
  }

  say(): Uint8Array | undefined {
    const frame = this.#frames.shift();
    if (isLoud(frame)) this.saidAtMs.push(this.#clock.monotonicMs());
    return frame;
  }

  hear(frame: Uint8Array | undefined): void {
    if (isLoud(frame)) this.heardAtMs.push(this.#clock.monotonicMs());
  }

  /** How much was heard in a span, in milliseconds. */
  heardMs(fromMs = 0, toMs = Number.POSITIVE_INFINITY): number {
    return this.heardAtMs.filter((at) => at > fromMs && at <= toMs).length * FRAME_MS;
  }
}

function isLoud(frame: Uint8Array | undefined): boolean {
  if (frame === undefined) return false;
  const samples = new Int16Array(frame.length);
  decodeMulaw(frame, samples);
  return samples.some((sample) => Math.abs(sample) > LOUD);
}

/** How the time of a line passes. */
type LineTime<C extends Clock> = {
  readonly clock: C;
  /** Lets the line run. */
  passes(ms: number): Promise<void>;
};

function manualTime(): LineTime<ManualClock> {
  const clock = new ManualClock();
  return {
    clock,
    async passes(ms) {
      for (let passed = 0; passed < ms; passed += FRAME_MS) {
        clock.advance(FRAME_MS);
        await settleAll();
      }
    },
  };
}

/** A live call of the local engines, and a person on the other side of a loopback line, on a clock that a test moves. */
export const phoneCall = (options?: PhoneOptions) => phoneCallOn(manualTime(), options);

type PhoneOptions = {
  readonly creditRaw?: bigint;
  readonly beginMessage?: string;
  readonly metrics?: Metrics;
  readonly notice?: string;
  readonly announced?: () => void;
  readonly notAnnounced?: () => void;
  /** What is said to a caller who has fallen silent. */
  readonly prompt?: () => string;
  readonly change?: Partial<LiveCallOptions>;
  readonly events?: Partial<LiveCallOptions['events']>;
  readonly deps?: Partial<VoiceDeps>;
  /** What answers in the place of the model. */
  readonly responderOf?: (clock: Clock) => Responder;
  readonly open?: (deps: VoiceDeps, options: LiveCallOptions) => LiveCall;
  /** What the caller's voice sounds like for so long, at 8 kHz. */
  readonly voice?: (ms: number) => Int16Array;
  readonly engines?: FakeEngines;
};

/** The same in a time that is given. */
export async function phoneCallOn<C extends Clock>(
  { clock, passes }: LineTime<C>,
  options: PhoneOptions = {},
) {
  const { creditRaw = 10_000_000n, metrics = noMetrics } = options;
  const world = await openInputOn(clock, {
    creditRaw,
    engines: options.engines,
    change: { metrics: createVoiceMetrics(metrics, () => 0), ...options.deps },
  });
  const { deps, engines, input, ledger } = world;
  const callee = new NotingCallee(clock, options.voice ?? ((ms) => tone(ms, 8_000)));
  engines.stt.pocketsphinx.interim = () => '';
  const responder = options.responderOf?.(clock);
  const pipeline = {
    ...input.pipeline,
    llm: createScriptedLlm(
      responder?.llm ?? input.pipeline.llm,
      options.prompt ?? (() => 'Are you there?'),
    ),
  };
  const codec = createLoopbackCodec();
  const clears: number[] = [];
  const over: string[] = [];
  const turns: string[] = [];
  const said: SaidTurn[] = [];
  const interruptions: string[] = [];
  const cuts: string[] = [];
  const handedOver: string[] = [];
  const config = {
    ...DEFAULT_CONFIG,
    inputFormat: MULAW,
    outputFormat: MULAW,
    turnDetection: { ...SERVER_VAD, interruptResponse: false },
  };
  const { open = (...parts: ConstructorParameters<typeof LiveCall>) => new LiveCall(...parts) } =
    options;
  const call = open(deps, {
    input: { ...input, owner: { ...input.owner, kind: 'call' }, config, pipeline },
    codec,
    format: MULAW,
    history: [],
    beginMessage: options.beginMessage,
    notice: options.notice,
    hearsKeys: responder?.digit !== undefined,
    longestMs: 3_600_000,
    lineLostMs: PHONE_LIMITS.call.lineLostMs,
    spoke() {},
    events: {
      said(turn) {
        said.push(turn);
        turns.push(`${turn.role}: ${turn.content}`);
      },
      act() {},
      digit: (digit) => responder?.digit?.(digit),
      answered: () => responder?.answered?.(),
      callerSpoke: () => responder?.callerSpoke?.(),
      handOff(data) {
        handedOver.push(data);
        call.end('agent_ended');
      },
      announced: options.announced ?? (() => {}),
      notAnnounced: options.notAnnounced ?? (() => {}),
      heard: (_, heard) => cuts.push(heard),
      interrupted(heard, heardMs) {
        interruptions.push(heard);
        responder?.interrupted?.(heard, heardMs);
      },
      attached() {},
      detached() {},
      over: ({ reason }) => over.push(reason),
      ...options.events,
    },
    ...options.change,
  });
  const encoder = new TextEncoder();
  const line = new LoopbackLine({
    clock,
    callee,
    send: (message) => call.media(codec.read(encoder.encode(JSON.stringify(message)))),
    hungUp: () => call.hungUp(),
  });
  const connection = {
    send(data: string) {
      if (data.includes('"clear"')) clears.push(clock.monotonicMs());
      line.receive(data);
      return true;
    },
    batch: (work: () => void) => work(),
    close: () => line.close(),
  };
  call.attach(connection);
  responder?.onManner?.((manner) => call.setManner(manner));
  responder?.onPreempted?.(() => call.preempt());
  responder?.onUnprompted?.(() => call.respond());

  /** The caller says `text`, for so long, and is silent until the end of the turn is found. */
  async function says(text: string, ms = 400): Promise<void> {
    engines.stt.pocketsphinx.script.push(text);
    callee.speak(ms);
    await passes(ms + 700);
  }
  const answers = (text: string) =>
    engines.guide.answers.push({ text, usage: { inputTokens: 1, outputTokens: 8 } });
  const prompt = () => engines.guide.asked.at(-1)?.messages.map(({ content }) => content) ?? [];
  return {
    answers,
    call,
    callee,
    clears,
    clock,
    connection,
    cuts,
    engines,
    handedOver,
    interruptions,
    ledger,
    line,
    over,
    passes,
    prompt,
    said,
    says,
    turns,
  };
}
