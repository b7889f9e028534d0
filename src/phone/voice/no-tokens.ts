import type { LlmReply } from '../../voice/session/voice-pipeline.ts';

/** What the answer of an external brain uses: it is not billed. */
export const NO_TOKENS: LlmReply['tokens'] = { input: 0, cached: 0, output: 0 };
