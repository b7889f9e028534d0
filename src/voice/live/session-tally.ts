import { ArrivalJitter } from '../../../media/arrival-jitter.ts';
import { Playback } from '../../../media/playback.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { SessionSummary, Stage } from '../../ledger/rules/session-summary.ts';
import type { VoiceKind, VoiceMetrics } from './voice-metrics.ts';

type StageSum = { count: number; totalMs: number; maxMs: number };

/** Counts the events of one live session, for the process metrics and for the session's summary. Its memory does not grow. */
export class SessionTally {
  readonly #clock: Clock;
  readonly #metrics: ReturnType<VoiceMetrics['of']>;
  readonly #answers: boolean;
  readonly #stages = new Map<Stage, StageSum>();
  readonly #jitter = new ArrivalJitter();
  readonly #playback = new Playback();
  #turns = 0;
  #interruptions = 0;
  #heardMs = 0;
  /** The part of `#heardMs` that was added to the metrics of the process. */
  #reportedMs = 0;
  #spokenMs = 0;
  /** Time when the caller fell silent, on the monotonic clock; undefined once the answer's audio has begun. */
  #speechEndedAtMs: number | undefined;
  /** True when the caller has interrupted the last answer. */
  #isInterrupted = true;

  constructor(options: {
    readonly kind: VoiceKind;
    readonly clock: Clock;
    readonly metrics: VoiceMetrics;
  }) {
    this.#clock = options.clock;
    this.#metrics = options.metrics.of(options.kind);
    this.#answers = options.kind !== 'transcription';
  }

  /** Records that `audioMs` of caller audio arrived at `atMs` of the session's clock. */
  arrived(audioMs: number, atMs: number): void {
    this.#jitter.arrived(atMs, audioMs);
  }

  /** Records that `audioMs` of caller audio were heard. */
  heard(audioMs: number): void {
    this.#heardMs += audioMs;
  }

  /** Records that the caller fell silent `agoMs` ago. */
  speechEnded(agoMs = 0): void {
    this.#speechEndedAtMs = this.#clock.monotonicMs() - agoMs;
  }

  answerBegan(): void {
    this.#isInterrupted = false;
    this.#playback.restart();
  }

  /** Records that `audioMs` of the answer's audio were sent. */
  spoke(audioMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#spokenMs += audioMs;
    if (this.#playback.sent(nowMs, audioMs)) this.#metrics.underrun();
    if (this.#speechEndedAtMs === undefined) return;
    this.stage('answer', nowMs - this.#speechEndedAtMs);
    this.#speechEndedAtMs = undefined;
  }

  /** Records that the caller interrupted the last answer. A second report of the same interruption is ignored. */
  interrupted(): void {
    if (this.#isInterrupted) return;
    this.#isInterrupted = true;
    this.#interruptions++;
    this.#playback.restart();
    this.#metrics.interruption();
  }

  turnEnded(): void {
    this.#turns++;
    this.#metrics.turn();
    this.#reportHeard();
  }

  stage(stage: Stage, ms: number): void {
    this.#metrics.stage(stage, ms);
    const sum = this.#stages.get(stage);
    if (sum === undefined) {
      this.#stages.set(stage, { count: 1, totalMs: ms, maxMs: ms });
      return;
    }
    sum.count++;
    sum.totalMs += ms;
    sum.maxMs = Math.max(sum.maxMs, ms);
  }

  /** Jitter of the caller's audio: deviation of its arrival from its audio time. Undefined before the first audio. */
  get jitter(): Pick<ArrivalJitter, 'smoothMs' | 'mostMs'> | undefined {
    return this.#jitter.hasBegun ? this.#jitter : undefined;
  }

  /** Returns the session's summary. Call it once, at the end, because it also reports the jitter to the metrics. */
  close(): SessionSummary {
    this.#reportHeard();
    if (this.#jitter.hasBegun) this.#metrics.jitter(this.#jitter.smoothMs);
    const stages = [...this.#stages].map(([stage, { count, totalMs, maxMs }]) => [
      stage,
      { count, meanMs: Math.round(totalMs / count), maxMs: Math.round(maxMs) },
    ]);
    return {
      turns: this.#turns,
      interruptions: this.#interruptions,
      heardSeconds: seconds(this.#heardMs),
      spokenSeconds: seconds(this.#spokenMs),
      stages: Object.fromEntries(stages),
      jitterMs: this.jitter ? tenths(this.jitter.smoothMs) : null,
      jitterMaxMs: this.jitter ? tenths(this.jitter.mostMs) : null,
      underruns: this.#answers ? this.#playback.underruns : null,
      underrunMs: this.#answers ? Math.round(this.#playback.dryMs) : null,
    };
  }

  /** Reports the heard audio to the metrics, once per turn: a labelled metric costs more than a sum per frame. */
  #reportHeard(): void {
    if (this.#heardMs > this.#reportedMs)
      this.#metrics.audioSeconds((this.#heardMs - this.#reportedMs) / 1_000);
    this.#reportedMs = this.#heardMs;
  }
}

const seconds = (ms: number): number => Math.round(ms) / 1_000;
const tenths = (ms: number): number => Math.round(ms * 10) / 10;
