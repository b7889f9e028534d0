import type { Clock } from '../../kernel/clock.ts';
import type { KindMetrics } from '../../voice/live/voice-metrics.ts';
import type { Heard } from '../../voice/stt/transcriber-events.ts';

/**
 * Latency from the end of the caller's speech to the first sound of the answer, in whole milliseconds. Each member begins where
 * the previous member ends, so that the members sum to `totalMs`.
 */
export type TurnLatency = {
  /** Silence from the end of the speech until turn detection reports the end. */
  readonly waitMs: number;
  /** Time until the words are known. */
  readonly transcriptMs: number;
  readonly firstTokenMs: number;
  /** Time until the TTS has made its first sound. */
  readonly firstAudioMs: number;
  /** Time until that sound goes out to the carrier. */
  readonly firstFrameMs: number;
  readonly totalMs: number;
};

/** Number of ended utterances that may wait for their words. */
const MOST_UTTERANCES = 16;

type Speech = { readonly endMs: number; readonly foundMs: number; readonly heardMs: number };

/** Measures the latency of a call's answers. An answer that follows no speech, such as a greeting, has no latency. */
export class LatencyChain {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #metrics: Pick<KindMetrics, 'stage'>;
  /** Times at which turn detection found the ends of utterances that wait for their words, oldest first. */
  readonly #found: number[] = [];
  /** Speech of the caller that no answer has taken up yet. */
  #asked: Speech | undefined;
  /** Speech of the caller that the present answer answers. */
  #answered: Speech | undefined;
  #tokenMs: number | undefined;
  #audioMs: number | undefined;

  constructor(deps: {
    readonly clock: Pick<Clock, 'monotonicMs'>;
    readonly metrics: Pick<KindMetrics, 'stage'>;
  }) {
    this.#clock = deps.clock;
    this.#metrics = deps.metrics;
  }

  /** Notes that turn detection has found the end of an utterance. */
  utteranceEnded(): void {
    if (this.#found.length < MOST_UTTERANCES) this.#found.push(this.#clock.monotonicMs());
  }

  /** Handles the words of the oldest utterance whose end was found. */
  heard({ latencyMs, text }: Pick<Heard, 'latencyMs' | 'text'>, isAddressed: boolean): void {
    const heardMs = this.#clock.monotonicMs();
    const foundMs = this.#found.shift() ?? heardMs;
    if (text === '' || !isAddressed) return;
    this.#asked = { endMs: Math.min(foundMs, heardMs - latencyMs), foundMs, heardMs };
  }

  answerBegan(): void {
    this.#answered = undefined;
    this.#tokenMs = undefined;
    this.#audioMs = undefined;
  }

  /** Notes words of the responder. Only the first time in an answer counts. */
  token(): void {
    if (this.#tokenMs !== undefined) return;
    this.#tokenMs = this.#clock.monotonicMs();
    this.#answered = this.#asked;
    this.#asked = undefined;
  }

  /** Notes sound of the synthesizer. Only the first time in an answer counts. */
  audio(): void {
    this.#audioMs ??= this.#clock.monotonicMs();
  }

  /**
   * Returns, once, the latency chain of the answer whose first sound went out at `frameMs`. Undefined when the answer follows
   * no speech, or made no sound.
   */
  take(frameMs: number | undefined): TurnLatency | undefined {
    const speech = this.#answered;
    const [tokenMs, audioMs] = [this.#tokenMs, this.#audioMs];
    if (speech === undefined || tokenMs === undefined || audioMs === undefined) return undefined;
    if (frameMs === undefined) return undefined;
    this.#answered = undefined;
    const chain = chainOf([
      speech.endMs,
      speech.foundMs,
      speech.heardMs,
      tokenMs,
      audioMs,
      frameMs,
    ]);
    this.#metrics.stage('wait', chain.waitMs);
    this.#metrics.stage('first_token', chain.firstTokenMs);
    this.#metrics.stage('synthesis', chain.firstAudioMs);
    this.#metrics.stage('first_frame', chain.firstFrameMs);
    return chain;
  }
}

type Instants = readonly [
  end: number,
  found: number,
  heard: number,
  token: number,
  audio: number,
  frame: number,
];

/** Returns the latency between instants, which are rounded first, so that the spans sum to the total. */
function chainOf(instants: Instants): TurnLatency {
  const [end, found, heard, token, audio, frame] = instants.map(Math.round) as unknown as Instants;
  return {
    waitMs: found - end,
    transcriptMs: heard - found,
    firstTokenMs: token - heard,
    firstAudioMs: audio - token,
    firstFrameMs: frame - audio,
    totalMs: frame - end,
  };
}
