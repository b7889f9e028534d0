import type { Histogram, Metrics } from '../kernel/metrics.ts';

/** How long each stage of a voice session took, in milliseconds; label `stage`. */
export type VoiceMetrics = {
  readonly stage: (
    stage: 'final' | 'prompt' | 'reply' | 'first_audio' | 'journal',
    ms: number,
  ) => void;
  readonly audioSeconds: (seconds: number) => void;
};

const BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/** Declares the metrics of live voice, once per process. */
export function createVoiceMetrics(metrics: Metrics, live: () => number): VoiceMetrics {
  const stages: Histogram = metrics.histogram(
    'svc_voice_stage_ms',
    'Time of one stage of a voice session, in milliseconds.',
    BUCKETS,
    ['stage'],
  );
  const audio = metrics.counter(
    'svc_voice_audio_seconds_total',
    'Audio that callers sent to be transcribed, in seconds.',
  );
  metrics.watch('svc_voice_sessions', 'Voice sessions that are live.', live);
  return {
    stage: (stage, ms) => stages.observe(ms, { stage }),
    audioSeconds: (seconds) => audio.add(seconds),
  };
}
