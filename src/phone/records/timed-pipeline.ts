import type {
  Llm,
  LlmPiece,
  LlmReply,
  SpeakRequest,
  Tts,
  TtsPiece,
  VoicePipeline,
} from '../../voice/session/voice-pipeline.ts';
import type { LatencyChain } from './turn-latency.ts';

type Chain = Pick<LatencyChain, 'token' | 'audio'>;

/** Returns a pipeline that reports to `chain` when the responder and the synthesizer produce output. */
export const timedPipeline = (pipeline: VoicePipeline, chain: Chain): VoicePipeline => ({
  stt: (config) => pipeline.stt(config),
  llm: timedLlm(pipeline.llm, chain),
  voice: new TimedTts(pipeline.voice, chain),
  transcriberModel: (config) => pipeline.transcriberModel(config),
  problemOf: (config) => pipeline.problemOf(config),
  reserves: (config, outputTokens) => pipeline.reserves(config, outputTokens),
  takeBill: (use, requests) => pipeline.takeBill(use, requests),
  paymentsKnown: () => pipeline.paymentsKnown(),
});

const timedLlm = (llm: Llm, chain: Chain): Llm => ({
  reply: (request) => new TimedReply(llm.reply(request), chain),
  speculate: (request) => llm.speculate?.(request),
  forgetSpeculation: () => llm.forgetSpeculation?.(),
});

class TimedReply implements LlmReply {
  readonly #reply: LlmReply;
  readonly #chain: Chain;

  constructor(reply: LlmReply, chain: Chain) {
    this.#reply = reply;
    this.#chain = chain;
  }

  get isForReading(): boolean {
    return this.#reply.isForReading ?? false;
  }

  async next(): Promise<LlmPiece | undefined> {
    const piece = await this.#reply.next();
    if (piece !== undefined) this.#chain.token();
    return piece;
  }

  get tokens(): LlmReply['tokens'] {
    return this.#reply.tokens;
  }

  get cut(): LlmReply['cut'] {
    return this.#reply.cut;
  }
}

class TimedTts implements Tts {
  readonly #voice: Tts;
  readonly #chain: Chain;

  constructor(voice: Tts, chain: Chain) {
    this.#voice = voice;
    this.#chain = chain;
  }

  async *speak(request: SpeakRequest): AsyncGenerator<TtsPiece> {
    for await (const piece of this.#voice.speak(request)) {
      this.#chain.audio();
      yield piece;
    }
  }
}
