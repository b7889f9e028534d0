import { ConfigError } from '../../../config/config-error.ts';
import { ApiError } from '../../../kernel/api-error.ts';
import { MAIN_HOLD } from '../../../voice/billing/session-holds.ts';
import type { CascadeDeps } from '../../../voice/cascade/cascade-deps.ts';
import { createCascadePipeline } from '../../../voice/cascade/cascade-pipeline.ts';
import type { CallDeps } from '../call-deps.ts';
import { planVoice } from './plan-voice.ts';

/**
 * Checks the configured speech models by creating the pipeline of a call and discarding it. Throws ConfigError when the
 * transcriber or the synthesizer is in the catalogue but cannot serve calls: `local/grammar` needs a grammar, for example.
 */
export function requireCallModels(
  deps: Pick<
    CallDeps,
    'catalogue' | 'cascades' | 'clock' | 'engines' | 'log' | 'models' | 'random'
  >,
): void {
  try {
    const plan = planVoice(deps, WITH_RESPONDER, true);
    createCascadePipeline({ ...deps, ...UNPAID, trace: undefined, plan });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { message } = error.fields;
    throw new ConfigError(`Invalid PHONE_STT_MODEL or PHONE_TTS_MODEL: ${message}`);
  }
}

const WITH_RESPONDER = {
  voiceMode: 'webhook',
  systemPrompt: null,
  beginMessage: null,
  voice: null,
  model: null,
  webhookUrl: null,
} as const;

const refused = async () => {
  throw new Error('a pipeline that only was made holds nothing');
};

/** Stub of an agent and its holds. The pipeline that uses it is discarded before it makes a purchase. */
const UNPAID: Pick<CascadeDeps, 'holdNameOf' | 'ownKeys' | 'sessionHolds' | 'spender'> = {
  spender: { agentId: 0 },
  holdNameOf: () => MAIN_HOLD,
  ownKeys: { sourcesOf: () => [], lookUp: async () => {}, noteUse: async () => {} },
  sessionHolds: {
    heldRaw: 0n,
    spentRaw: 0n,
    hold: refused,
    holdQuietly: refused,
    makeWhole: refused,
  },
};
