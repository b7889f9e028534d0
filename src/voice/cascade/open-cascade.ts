import { assert } from '../../kernel/assert.ts';
import { newId } from '../../kernel/ids.ts';
import { makerOf } from '../../ledger/rules/destination.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Model, Source } from '../../models/catalogue/catalogue.ts';
import { chatPriceRaw } from '../../models/chat/chat-price.ts';
import { openTurn } from '../billing/hold-turn.ts';
import { openSessionHold, type SessionHoldOwner } from '../billing/session-hold.ts';
import { MAIN_HOLD, SessionHolds } from '../billing/session-holds.ts';
import type { TurnCap } from '../billing/turn-meter.ts';
import type { VoiceDeps } from '../live/voice-deps.ts';
import { requireServed, type SessionConfig } from '../session/session-config.ts';
import type { VoicePipeline } from '../session/voice-pipeline.ts';
import type { VoiceSessionInput } from '../session/voice-session-input.ts';
import type { CascadeDeps, Cascades } from './cascade-deps.ts';
import { cascadeCap, createCascadePipeline, mostTokens } from './cascade-pipeline.ts';
import { bindModel } from './model-binding.ts';
import type { OwnKeys } from './own-keys.ts';
import { type CascadePlan, localEngineOf } from './plan-cascade.ts';
import { hearingRailsOf } from './transcribers-of.ts';
import { createTranscriptionPipeline } from './transcription-pipeline.ts';
import { fittingVoice } from './voices.ts';

/**
 * Opens a cascade, and holds the cost of its first turn for each maker. Throws ConfigUnfit, or the refusal of a hold or of a
 * model that is not available here; then nothing stays held.
 */
export async function openCascade(
  deps: VoiceDeps & { readonly cascades: Cascades },
  plan: CascadePlan,
  opening: Opening,
): Promise<VoiceSessionInput> {
  const { ownKeys } = opening;
  const config = fittingVoice(plan, opening.config);
  const thinking = { model: plan.llm, rails: deps.cascades.chat, ownKeys };
  const [{ offers }] = bindModel({ ...thinking, holdNameOf: () => MAIN_HOLD }).stages((source) =>
    chatPriceRaw(mostTokens(plan), source),
  );
  const main = { model: plan.model.id, source: offers[0].source };
  const cap = cascadeCap(plan);
  return openPipeline(deps, { ...opening, config, main, cap }, (money) =>
    createCascadePipeline({ ...deps, ...money, plan }),
  );
}

/**
 * Opens a session that only transcribes, with any transcription model. Holds the cost of its first turn; throws as
 * `openCascade` does.
 */
export async function openTranscribing(
  deps: VoiceDeps & { readonly cascades: Cascades },
  stt: Model,
  opening: Opening,
): Promise<VoiceSessionInput> {
  const rails = hearingRailsOf(deps.cascades);
  const hearing = { model: stt, rails, ownKeys: opening.ownKeys };
  const source =
    localEngineOf(stt) ??
    bindModel({ ...hearing, holdNameOf: () => MAIN_HOLD }).stages(() => 0n)[0].offers[0].source;
  const main = { model: stt.id, source };
  return openPipeline(deps, { ...opening, main, cap: NO_ANSWER }, (money) =>
    createTranscriptionPipeline({ ...deps, ...money, stt }),
  );
}

/** Cap of a session that never answers. */
const NO_ANSWER: TurnCap = {
  inputTokens: 0,
  outputTokens: 0,
  spokenChars: 0,
  capsSound: false,
  countsSound: false,
};

type Opening = {
  readonly spender: Spender;
  readonly ownKeys: OwnKeys;
  readonly config: SessionConfig;
};

/** Opens the holds of a session and its pipeline. */
async function openPipeline(
  deps: VoiceDeps,
  {
    cap,
    config,
    main,
    ownKeys,
    spender,
  }: Opening & { readonly cap: TurnCap; readonly main: Pick<SessionHoldOwner, 'model' | 'source'> },
  createPipeline: (
    money: Pick<CascadeDeps, 'ownKeys' | 'holdNameOf' | 'sessionHolds' | 'spender'>,
  ) => VoicePipeline,
): Promise<VoiceSessionInput> {
  const owner: SessionHoldOwner = {
    ...main,
    spender,
    kind: 'realtime',
    sessionId: newId(deps.random, 'sess_'),
  };
  const { ownerOf, holdNameOf } = createOwners(owner);
  const sessionHolds = new SessionHolds((name, reserveRaw, isQuiet) =>
    openSessionHold(deps, ownerOf(name), reserveRaw, isQuiet),
  );
  const pipeline = createPipeline({ ownKeys, holdNameOf, sessionHolds, spender });
  requireServed(pipeline, config);
  const reservesOf = (tokens: number) => pipeline.reserves(config, tokens);
  const outputTokens = await openTurn(sessionHolds, reservesOf, cap.outputTokens);
  return { owner, sessionHolds, cap, outputTokens, pipeline, config };
}

/**
 * Names the holds of a session: one hold for each maker of models, and another hold for the fees of purchases with the caller's
 * own keys.
 */
function createOwners(main: SessionHoldOwner) {
  const owners = new Map([[MAIN_HOLD, main]]);
  const { sessionId } = main;
  const mainName = nameOf(main.model, main.source);
  return {
    holdNameOf({ id }: Model, source: Source): string {
      const name = nameOf(id, source);
      if (name === mainName) return MAIN_HOLD;
      if (!owners.has(name)) {
        const place = { sessionId: `${sessionId}.${name}`, partOf: sessionId };
        owners.set(name, { ...main, ...place, model: id, source });
      }
      return name;
    },
    ownerOf(name: string): SessionHoldOwner {
      const owner = owners.get(name);
      assert(owner !== undefined, 'a hold is named before it is opened');
      return owner;
    },
  };
}

const nameOf = (modelId: string, { rail }: Source): string =>
  rail === 'byok' ? `${makerOf(modelId)}.own` : makerOf(modelId);
