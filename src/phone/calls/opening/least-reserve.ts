import { maxRaw } from '../../../kernel/amount.ts';
import { ApiError } from '../../../kernel/api-error.ts';
import { destinationOf } from '../../../ledger/rules/destination.ts';
import type { Destination } from '../../../ledger/rules/requests.ts';
import { MODEL_LIMITS } from '../../../models/limits.ts';
import { MAIN_HOLD } from '../../../voice/billing/session-holds.ts';
import { mostTokens } from '../../../voice/cascade/cascade-pipeline.ts';
import { dearestChat } from '../../../voice/cascade/catalogue-llm.ts';
import { bindModel } from '../../../voice/cascade/model-binding.ts';
import { openOwnKeys } from '../../../voice/cascade/own-keys.ts';
import type { CascadePlan } from '../../../voice/cascade/plan-cascade.ts';
import { minuteRaw } from '../../rate-card.ts';
import { type Call, hasOwnResponder, lineOf } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import { CallMeter } from '../call-meter.ts';
import { turnOfLineRaw } from '../call-pipeline.ts';
import { planVoice, turnCapOf } from './plan-voice.ts';

/** Age that a line may have reached, in seconds, when its call is open. */
const OPENING_SECONDS = 5;

type Deps = Pick<CallDeps, 'catalogue' | 'cascades' | 'models'>;

export type LeastReserve = {
  readonly raw: bigint;
  /** Part of the reserve for the first answer, which counts under the caps for its model's provider. */
  readonly answer: { readonly raw: bigint; readonly destination: Destination };
};

/**
 * Returns the smallest reserve that a call is opened with: it pays for a minute, and for a first turn with the shortest answer.
 * Undefined when no source sells a model of the voice.
 */
export async function leastReserve(
  deps: Deps,
  call: Pick<Call, 'accountId' | 'direction' | 'options' | 'rates'>,
): Promise<LeastReserve | undefined> {
  const { options, rates } = call;
  const line = lineOf(call);
  const leastRaw = minuteRaw(rates, line, options.isRecorded);
  const hasResponder = hasOwnResponder(options.voice);
  try {
    const plan = planVoice(deps, options.voice, hasResponder);
    const cap = turnCapOf(plan);
    const meter = new CallMeter({ card: rates, line, expectsRecording: options.isRecorded });
    const outputTokens = Math.min(MODEL_LIMITS.tokens.leastOutput, cap.outputTokens);
    const ofLineRaw = turnOfLineRaw(meter, cap, { lineSeconds: OPENING_SECONDS, outputTokens });
    const ofModelRaw = hasResponder ? 0n : await answerRaw(deps, plan, { ...call, outputTokens });
    return {
      raw: maxRaw(ofLineRaw + ofModelRaw, leastRaw),
      answer: { raw: ofModelRaw, destination: destinationOf(plan.llm.id) },
    };
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Returns the upper bound of the cost of one model answer at the first sources of the route. Throws when no source is left. */
async function answerRaw(
  { catalogue, cascades }: Deps,
  plan: CascadePlan,
  { accountId, outputTokens }: { readonly accountId: string; readonly outputTokens: number },
): Promise<bigint> {
  const { chat: rails, providerKeys } = cascades;
  const { llm: model } = plan;
  const buyer = { accountId, providerKey: undefined };
  const ownKeys = await openOwnKeys({ catalogue, providerKeys }, [model], buyer);
  const part = bindModel({ model, rails, ownKeys, holdNameOf: () => MAIN_HOLD });
  return dearestChat(part, { ...mostTokens(plan), outputTokens }).raw;
}
