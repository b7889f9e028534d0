import type { LlmReply } from '../../voice/session/voice-pipeline.ts';

/** Token counts of an answer by the developer's own responder, which is not billed. */
export const NO_TOKENS: LlmReply['tokens'] = { input: 0, cached: 0, output: 0 };
