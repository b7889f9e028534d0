import type { Stage } from '../../ledger/rules/session-summary.ts';
import type { Histogram, Metrics } from '../../platform/tracing/metrics.ts';

/** Kinds of live session, as they are named in metrics. */
export type VoiceKind = 'realtime' | 'relay' | 'transcription' | 'call';

/** The metrics of all live sessions of one kind. */
export type KindMetrics = {
  readonly stage: (stage: Stage, ms: number) => void;
  readonly turn: () => void;
  readonly interruption: () => void;
  readonly underrun: () => void;
  /** Reports the jitter of a session's audio, once, at its end. */
  readonly jitter: (ms: number) => void;
  readonly audioSeconds: (seconds: number) => void;
  /** Counts the words of an answer that were spoken, and the words of it that an interruption kept from being heard. */
  readonly wordsSaid: (words: number) => void;
  readonly wordsUnheard: (words: number) => void;
};

/** The metrics of live voice by kind of session. */
export type VoiceMetrics = { readonly of: (kind: VoiceKind) => KindMetrics };

const BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/** Declares the metrics of live voice. Call it once per process. */
export function createVoiceMetrics(metrics: Metrics, live: () => number): VoiceMetrics {
  const histogram = (name: string, help: string, labels: readonly string[]): Histogram =>
    metrics.histogram(name, help, BUCKETS, labels);
  const counter = (name: string, help: string) => metrics.counter(name, help, ['kind']);
  const stages = histogram(
    'svc_voice_stage_ms',
    'Time of one stage of a turn of a voice session, in milliseconds.',
    ['stage', 'kind'],
  );
  const jitter = histogram(
    'svc_voice_jitter_ms',
    'How far the sound of a session came from its audio time, in milliseconds.',
    ['kind'],
  );
  const turns = counter('svc_voice_turns_total', 'Turns of voice sessions.');
  const interruptions = counter('svc_voice_interruptions_total', 'Answers that were interrupted.');
  const underruns = counter(
    'svc_voice_underruns_total',
    'Times that a client playing in real time ran dry in the middle of an answer.',
  );
  const audio = counter(
    'svc_voice_audio_seconds_total',
    'Audio that callers sent to be heard, in seconds.',
  );
  const wordsSaid = counter('svc_voice_words_said_total', 'Words of answers on calls.');
  const wordsUnheard = counter(
    'svc_voice_words_unheard_total',
    'Words of answers on calls that an interruption kept from being heard.',
  );
  metrics.watch('svc_voice_sessions', 'Voice sessions that are live.', live);
  return {
    of(kind) {
      const labels = { kind };
      return {
        stage: (stage, ms) => stages.observe(ms, { stage, kind }),
        turn: () => turns.add(1, labels),
        interruption: () => interruptions.add(1, labels),
        underrun: () => underruns.add(1, labels),
        jitter: (ms) => jitter.observe(ms, labels),
        audioSeconds: (seconds) => audio.add(seconds, labels),
        wordsSaid: (words) => wordsSaid.add(words, labels),
        wordsUnheard: (words) => wordsUnheard.add(words, labels),
      };
    },
  };
}
