import { LIMITS } from '../../../kernel/limits.ts';
import { requireModel, withKeyed } from '../../../models/catalogue/require-model.ts';
import { findOwnSellers } from '../../../models/routing/sellers.ts';
import type { TurnCap } from '../../../voice/billing/turn-meter.ts';
import { cascadeCap } from '../../../voice/cascade/cascade-pipeline.ts';
import type { CascadePlan } from '../../../voice/cascade/plan-cascade.ts';
import { type Call, type CallVoice, hasOwnResponder } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';

/** Tokens of one answer: people on the phone get short ones. */
const ANSWER_TOKENS = 256;

/** The bounds of a turn of a call. */
export function turnCapOf(plan: CascadePlan): TurnCap {
  const cap = cascadeCap(plan);
  return {
    ...cap,
    outputTokens: Math.min(ANSWER_TOKENS, cap.outputTokens),
    spokenChars: LIMITS.phone.webhookSpokenChars,
  };
}

/** The model that answers where a voice names none. */
const modelOf = ({ models }: Pick<CallDeps, 'models'>, { model }: CallVoice): string =>
  model ?? models.llm;

/**
 * The models of a call, of which the caller's own keys may open the one that answers. A responder of the developer's own has
 * none; the guide then stands for it and is never asked. Throws the refusal of a model that is not known.
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
 * The model of a voice that cannot be bought now: it is no longer sold, or the key is gone that has opened it. Undefined:
 * it can be, or the developer's own responder answers.
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
  const own = await findOwnSellers({ catalogue, providerKeys }, named, buyer);
  return own?.model.modality === 'text' ? undefined : named;
}
