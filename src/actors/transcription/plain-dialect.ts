import { LIMITS } from '../../kernel/limits.ts';
import type { TranscriptDialect } from './dialect.ts';

const QUIET_MS = LIMITS.transcriptionIdleSeconds * 1_000;

/** The dialect of this interface: `transcript` events, and an `error` before the close when there is one. */
export const PLAIN_DIALECT: TranscriptDialect = {
  silenceDurationMs: 500,
  quietMs: QUIET_MS,
  keptMs: QUIET_MS,
  quiet: { code: 1000, reason: 'no audio' },
  writer: (send) => ({
    took() {},
    began() {},
    segment: ({ text, isFinal }) =>
      send({ type: 'transcript', text, is_final: isFinal, speech_final: false }),
    heard: ({ tail, latencyMs }) => {
      const final = { text: tail, is_final: true, speech_final: true };
      send({ type: 'transcript', ...final, latency_ms: latencyMs });
    },
    nothingLeft() {},
    misunderstood() {},
    ended({ error }) {
      if (error !== undefined) send({ type: 'error', ...error });
    },
  }),
};
