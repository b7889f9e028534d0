import { ArrivalJitter } from '../../../media/arrival-jitter.ts';
import { Playback } from '../../../media/playback.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { SessionSummary, Stage } from '../../ledger/rules/session-summary.ts';
import type { VoiceKind, VoiceMetrics } from './voice-metrics.ts';

type StageSum = { count: number; totalMs: number; maxMs: number };

/**
 * Counts how one live session goes, for the metrics of the process as it happens and for the session's own summary at
 * its end. What it keeps does not grow, and what it is told of each piece of sound costs no memory.
 */
export class SessionTally {
  readonly #clock: Clock;
  readonly #metrics: ReturnType<VoiceMetrics['of']>;
  readonly #answers: boolean;
  readonly #stages = new Map<Stage, StageSum>();
  readonly #jitter = new ArrivalJitter();
  readonly #playback = new Playback();
  #hasArrivals = false;
  #turns = 0;
  #interruptions = 0;
  #heardMs = 0;
  /** How much of it the metrics of the process were told of. */
  #toldMs = 0;
  #spokenMs = 0;
  /** When the caller fell silent who has not been answered yet. */
  #speechEndedAtMs: number | undefined;
  /** The caller has interrupted the answer that was begun last. */
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

  /** Sound of the caller came in at `atMs` of the session's clock. */
  arrived(audioMs: number, atMs: number): void {
    this.#hasArrivals = true;
    this.#jitter.arrived(atMs, audioMs);
  }

  /** Sound of the caller was listened to. */
  heard(audioMs: number): void {
    this.#heardMs += audioMs;
  }

  /** The caller fell silent so long ago. */
  speechEnded(agoMs = 0): void {
    this.#speechEndedAtMs = this.#clock.monotonicMs() - agoMs;
  }

  answerBegan(): void {
    this.#isInterrupted = false;
    this.#playback.restart();
  }

  /** Sound of the answer went out. */
  spoke(audioMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#spokenMs += audioMs;
    if (this.#playback.sent(nowMs, audioMs)) this.#metrics.underrun();
    if (this.#speechEndedAtMs === undefined) return;
    this.stage('answer', nowMs - this.#speechEndedAtMs);
    this.#speechEndedAtMs = undefined;
  }

  /** The caller interrupted the answer that was begun last. Counts once, however the server learns of it. */
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
    this.#tellHeard();
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

  /** How the session went. To be asked once, at its end: its jitter is counted then. */
  close(): SessionSummary {
    this.#tellHeard();
    if (this.#hasArrivals) this.#metrics.jitter(this.#jitter.smoothMs);
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
      jitterMs: this.#hasArrivals ? tenths(this.#jitter.smoothMs) : null,
      jitterMaxMs: this.#hasArrivals ? tenths(this.#jitter.mostMs) : null,
      underruns: this.#answers ? this.#playback.underruns : null,
      underrunMs: this.#answers ? Math.round(this.#playback.dryMs) : null,
    };
  }

  /** By the turn, and not by the frame: a label costs more than a sum. */
  #tellHeard(): void {
    if (this.#heardMs > this.#toldMs)
      this.#metrics.audioSeconds((this.#heardMs - this.#toldMs) / 1_000);
    this.#toldMs = this.#heardMs;
  }
}

const seconds = (ms: number): number => Math.round(ms) / 1_000;
const tenths = (ms: number): number => Math.round(ms * 10) / 10;
