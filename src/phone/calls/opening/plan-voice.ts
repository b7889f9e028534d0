import { requireModel, withKeyed } from '../../../models/catalogue/require-model.ts';
import { findOwnSources } from '../../../models/routing/keyed-sources.ts';
import type { TurnCap } from '../../../voice/billing/turn-meter.ts';
import { cascadeCap } from '../../../voice/cascade/cascade-pipeline.ts';
import type { CascadePlan } from '../../../voice/cascade/plan-cascade.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { type Call, type CallVoice, hasOwnResponder } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';

/** Upper bound of the tokens of one answer: answers on the phone are short. */
const ANSWER_TOKENS = 256;

/** Returns the upper bounds of one turn of a call. */
export function turnCapOf(plan: CascadePlan): TurnCap {
  const cap = cascadeCap(plan);
  return {
    ...cap,
    outputTokens: Math.min(ANSWER_TOKENS, cap.outputTokens),
    spokenChars: PHONE_LIMITS.webhook.spokenChars,
  };
}

/** Returns the model of a voice, or the default model. */
const modelOf = ({ models }: Pick<CallDeps, 'models'>, { model }: CallVoice): string =>
  model ?? models.llm;

/**
 * Returns the models of a call; a key of the caller may open the answering model. With a responder of the developer's own, the
 * guide fills that place and is never requested. Throws when a model is unknown.
 */
export function planVoice(
  deps: Pick<CallDeps, 'catalogue' | 'models'>,
  voice: CallVoice,
  hasResponder: boolean,
): CascadePlan {
  const { catalogue, models } = deps;
  const named = hasResponder ? 'local/guide' : modelOf(deps, voice);
  const llm = requireModel(withKeyed(catalogue), named, 'text');
  return {
    model: llm,
    llm,
    stt: requireModel(catalogue, models.stt, 'stt'),
    tts: requireModel(catalogue, models.tts, 'tts'),
  };
}

/**
 * Returns the model of a voice that no source sells now: it was removed from sale, or the key that opened it is gone. Undefined
 * when the model is for sale, or the developer's own responder answers.
 */
export async function unsoldModel(
  deps: Pick<CallDeps, 'catalogue' | 'models' | 'cascades'>,
  accountId: Call['accountId'],
  voice: CallVoice,
): Promise<string | undefined> {
  if (hasOwnResponder(voice)) return undefined;
  const { catalogue, cascades } = deps;
  const named = modelOf(deps, voice);
  if (catalogue.find(named)?.modality === 'text') return undefined;
  const buyer = { accountId, providerKey: undefined };
  const { providerKeys } = cascades;
  const own = await findOwnSources({ catalogue, providerKeys }, named, buyer);
  return own?.model.modality === 'text' ? undefined : named;
}
