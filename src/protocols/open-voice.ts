import { enginesFor } from '../engines/engines-for.ts';
import { newId } from '../kernel/ids.ts';
import type { Model, Source } from '../models/catalogue/catalogue.ts';
import { openTurn } from '../voice/billing/hold-turn.ts';
import { openSessionHold, type SessionHoldOwner } from '../voice/billing/session-hold.ts';
import { SessionHolds } from '../voice/billing/session-holds.ts';
import { type TurnCap, turnCap } from '../voice/billing/turn-meter.ts';
import type { Cascades } from '../voice/cascade/cascade-deps.ts';
import { openCascade } from '../voice/cascade/open-cascade.ts';
import { openOwnKeys } from '../voice/cascade/own-keys.ts';
import { type CascadePlan, localEngineOf } from '../voice/cascade/plan-cascade.ts';
import type { VoiceDeps } from '../voice/live/voice-deps.ts';
import type { RelayBuyer } from '../voice/relay/connect-relay.ts';
import { createLocalPipeline } from '../voice/session/local-pipeline.ts';
import { requireServed, type SessionConfig } from '../voice/session/session-config.ts';
import type { VoiceSessionInput } from '../voice/session/voice-session-input.ts';
import { openPlaced, requireEngines, requireLiveModel } from './take-engine.ts';

/** Model id of the pipeline that uses the engines of this server for every stage. */
export const ALL_LOCAL = 'local/realtime';

export type VoiceOpening = { readonly buyer: RelayBuyer; readonly config: SessionConfig };
type LocalOpening = VoiceOpening & {
  /** Returns the bounds of a turn, for protocols that have their own. */
  readonly capOf?: (model: Model, source: Source) => TurnCap;
};

/** Opens a voice session with the models of a plan, and holds the cost of its first turn. Throws the refusal. */
export async function openPlannedVoice(
  deps: VoiceDeps & { readonly cascades: Cascades },
  plan: CascadePlan,
  { buyer, config }: VoiceOpening,
): Promise<VoiceSessionInput> {
  const { providerKeys } = deps.cascades;
  const ownKeys = await openOwnKeys(
    { ...deps, providerKeys },
    [plan.llm, plan.stt, plan.tts],
    buyer,
  );
  requireEngines(deps.engines, [
    ...(localEngineOf(plan.stt) ? (['pocketsphinx'] as const) : []),
    ...(localEngineOf(plan.tts) ? (['flite'] as const) : []),
    ...(localEngineOf(plan.llm) ? (['guide'] as const) : []),
  ]);
  deps.sessions.requireRoom();
  const { spender } = buyer;
  const open = (engines: VoiceDeps['engines']) =>
    openCascade({ ...deps, engines }, plan, { spender, ownKeys, config });
  const engines = enginesFor(deps.engines, spender.agentId);
  return localEngineOf(plan.stt) ? openPlaced(engines, open) : open(engines);
}

/** Opens a voice session with the engines of this server and holds the cost of its first turn. Throws the refusal. */
export async function openLocalVoice(
  deps: VoiceDeps,
  modelId: string,
  { buyer, capOf = turnCap, config }: LocalOpening,
): Promise<VoiceSessionInput> {
  const { model, source } = requireLiveModel(deps.catalogue, modelId, 'realtime');
  requireEngines(deps.engines, ['pocketsphinx', 'flite', 'guide']);
  deps.sessions.requireRoom();

  const engines = enginesFor(deps.engines, buyer.spender.agentId);
  return openPlaced(engines, (placed) =>
    openLocalPipeline({ ...deps, engines: placed }, { model, source }, { buyer, capOf, config }),
  );
}

async function openLocalPipeline(
  deps: VoiceDeps,
  { model, source }: { readonly model: Model; readonly source: Source },
  { buyer, capOf, config }: Required<LocalOpening>,
): Promise<VoiceSessionInput> {
  const { spender } = buyer;
  const owner: SessionHoldOwner = {
    spender,
    sessionId: newId(deps.random, 'sess_'),
    kind: 'realtime',
    model: model.id,
    source,
  };
  const cap = capOf(model, source);
  const callerFacts = () => deps.callerFacts(spender.agentId);
  const sessionHolds = new SessionHolds((_, reserveRaw, isQuiet) =>
    openSessionHold(deps, owner, reserveRaw, isQuiet),
  );
  const parts = { cap, source, callerFacts, sessionHolds };
  const pipeline = createLocalPipeline({ ...deps, ...parts });
  requireServed(pipeline, config);
  const reservesOf = (tokens: number) => pipeline.reserves(config, tokens);
  const outputTokens = await openTurn(sessionHolds, reservesOf, cap.outputTokens);
  return { owner, sessionHolds, cap, outputTokens, pipeline, config };
}
