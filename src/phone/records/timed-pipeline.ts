import type { Llm, Tts, VoicePipeline } from '../../voice/session/voice-pipeline.ts';
import type { LatencyChain } from './turn-latency.ts';

type Chain = Pick<LatencyChain, 'token' | 'audio'>;

/** The same pipeline, which tells when the brain and the TTS have something to give. */
export const timedPipeline = (pipeline: VoicePipeline, chain: Chain): VoicePipeline =>
  changed(pipeline, {
    llm: timedLlm(pipeline.llm, chain),
    voice: timedTts(pipeline.voice, chain),
  });

/** Inherits the other members, since those of a recorded pipeline cannot be listed. */
const changed = <T extends object>(base: T, change: Partial<T>): T =>
  Object.assign(Object.create(base) as T, change);

const timedLlm = (llm: Llm, chain: Chain): Llm =>
  changed(llm, {
    reply(request) {
      const reply = llm.reply(request);
      return {
        async next() {
          const piece = await reply.next();
          if (piece !== undefined) chain.token();
          return piece;
        },
        get tokens() {
          return reply.tokens;
        },
        get cut() {
          return reply.cut;
        },
      };
    },
  });

const timedTts = (voice: Tts, chain: Chain): Tts => ({
  async *speak(request) {
    for await (const piece of voice.speak(request)) {
      chain.audio();
      yield piece;
    }
  },
});
