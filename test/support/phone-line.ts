import { decodeMulaw, encodeMulaw } from '../../media/mulaw.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { ManualClock } from '../../src/kernel/manual-clock.ts';
import { type Metrics, noMetrics } from '../../src/kernel/metrics.ts';
import type { Brain } from '../../src/phone/calls/call-deps.ts';
import { LiveCall } from '../../src/phone/calls/live-call.ts';
import type { LiveCallOptions } from '../../src/phone/calls/live-call-options.ts';
import { createLoopbackCodec } from '../../src/phone/carriers/loopback/loopback-codec.ts';
import { type Callee, LoopbackLine } from '../../src/phone/carriers/loopback/loopback-line.ts';
import type { SaidTurn } from '../../src/phone/records/said-turn.ts';
import type { VoiceDeps } from '../../src/voice/live/voice-deps.ts';
import { createVoiceMetrics } from '../../src/voice/live/voice-metrics.ts';
import { createScriptedLlm } from '../../src/voice/session/scripted-llm.ts';
import { DEFAULT_CONFIG } from '../../src/voice/session/session-config.ts';
import { SERVER_VAD } from '../../src/voice/session/turn-detection.ts';
import { openInput } from './realtime-session.ts';
import { tone } from './voice-fakes.ts';
import { settleAll } from './voice-world.ts';

const MULAW = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;
const FRAME_MS = 20;
const FRAME_SAMPLES = 160;
const LOUD = 500;

/** A person who says what a test gives, and notes each 20 ms whether something was heard. */
class NotingCallee implements Callee {
  readonly #clock: ManualClock;
  readonly #frames: Uint8Array[] = [];
  /** When sound was heard, in milliseconds of the test's clock. */
  readonly heardAtMs: number[] = [];
  isGone = false;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  speak(ms: number): void {
    const pcm = tone(ms, 8_000);
    for (let at = 0; at + FRAME_SAMPLES <= pcm.length; at += FRAME_SAMPLES) {
      const frame = new Uint8Array(FRAME_SAMPLES);
      encodeMulaw(pcm.subarray(at, at + FRAME_SAMPLES), frame);
      this.#frames.push(frame);
    }
  }

  say(): Uint8Array | undefined {
    return this.#frames.shift();
  }

  hear(frame: Uint8Array | undefined): void {
    if (frame === undefined) return;
    const samples = new Int16Array(frame.length);
    decodeMulaw(frame, samples);
    if (samples.some((sample) => Math.abs(sample) > LOUD)) {
      this.heardAtMs.push(this.#clock.monotonicMs());
    }
  }

  /** How much was heard in a span, in milliseconds. */
  heardMs(fromMs = 0, toMs = Number.POSITIVE_INFINITY): number {
    return this.heardAtMs.filter((at) => at > fromMs && at <= toMs).length * FRAME_MS;
  }
}

/** A live call of the local engines, and a person on the other side of a loopback line, on a clock that a test moves. */
export async function phoneCall(
  options: {
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
    readonly brainOf?: (clock: ManualClock) => Brain;
    readonly open?: (deps: VoiceDeps, options: LiveCallOptions) => LiveCall;
  } = {},
) {
  const { creditRaw = 10_000_000n, metrics = noMetrics } = options;
  const world = await openInput({
    creditRaw,
    change: { metrics: createVoiceMetrics(metrics, () => 0), ...options.deps },
  });
  const { clock, deps, engines, input, ledger } = world;
  const callee = new NotingCallee(clock);
  engines.stt.pocketsphinx.interim = () => '';
  const brain = options.brainOf?.(clock);
  const pipeline = {
    ...input.pipeline,
    llm: createScriptedLlm(
      brain?.llm ?? input.pipeline.llm,
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
    hearsKeys: brain?.digit !== undefined,
    longestMs: 3_600_000,
    lineLostMs: LIMITS.phone.lineLostMs,
    spoke() {},
    events: {
      said(turn) {
        said.push(turn);
        turns.push(`${turn.role}: ${turn.content}`);
      },
      act() {},
      digit: (digit) => brain?.digit?.(digit),
      answered: () => brain?.answered?.(),
      announced: options.announced ?? (() => {}),
      notAnnounced: options.notAnnounced ?? (() => {}),
      heard: (_, heard) => cuts.push(heard),
      interrupted(heard, heardMs) {
        interruptions.push(heard);
        brain?.interrupted?.(heard, heardMs);
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
  brain?.onUnprompted?.(() => call.respond());

  /** Lets the line run. */
  async function passes(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += FRAME_MS) {
      clock.advance(FRAME_MS);
      await settleAll();
    }
  }
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
