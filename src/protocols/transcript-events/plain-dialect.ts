import { VOICE_LIMITS } from '../../voice/limits.ts';
import { upstreamClosed } from '../../voice/live/voice-endings.ts';
import type { TranscriptDialect } from '../../voice/transcription/dialect.ts';

const QUIET_MS = VOICE_LIMITS.transcription.idleSeconds * 1_000;

/** This server's own dialect: `transcript` events, and an `error` event before the close when the ending has an error. */
export const PLAIN_DIALECT: TranscriptDialect = {
  silenceDurationMs: 500,
  quietMs: QUIET_MS,
  keptMs: QUIET_MS,
  brokenOff: upstreamClosed,
  keepsUpstream: true,
  // Clients of this dialect send no messages for an upstream.
  passedOn: () => undefined,
  relayed(_, event) {
    if (event?.kind !== 'results') return undefined;
    const { isFinal: is_final, speechFinal: speech_final, text } = event;
    // Empty words are sent only when they end an utterance.
    if (text === '' && !speech_final) return undefined;
    const message = { type: 'transcript', text, is_final, speech_final };
    return { bytes: Buffer.from(JSON.stringify(message)), isBinary: false };
  },
  quiet: { code: 1000, reason: 'no audio' },
  writer: (send) => ({
    took() {},
    began() {},
    segment: ({ text, isFinal }) =>
      send({ type: 'transcript', text, is_final: isFinal, speech_final: false }),
    heard: ({ isCut, tail, latencyMs }) => {
      const final = { text: tail, is_final: true, speech_final: !isCut };
      send({ type: 'transcript', ...final, latency_ms: latencyMs });
    },
    nothingLeft() {},
    misunderstood() {},
    ended({ error }) {
      if (error === undefined) return;
      const { code, message, unheardSeconds: unheard_seconds } = error;
      send({ type: 'error', code, message, unheard_seconds });
    },
  }),
};
