import { newId } from '../../kernel/ids.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Catalogue, Modality, Model, Source } from '../../models/catalogue/catalogue.ts';
import { gatewayErrors } from '../../models/errors.ts';
import type { CircuitBreaker } from '../../models/providers/circuit-breaker.ts';
import {
  type Declined,
  type Failed,
  failed,
  type Outcome,
} from '../../models/providers/outcome.ts';
import type {
  RealtimeRail,
  UpstreamSocket,
} from '../../models/providers/realtime/realtime-rail.ts';
import { type Attempted, attemptOffers, isPassedOver } from '../../models/purchase/attempt.ts';
import type { Buyer } from '../../models/purchase/buyer.ts';
import {
  findOwnSources,
  type KeyedSource,
  type ModelSources,
  pooledSources,
  type StoredKeys,
} from '../../models/routing/keyed-sources.ts';
import type { Rails } from '../../models/routing/open-rails.ts';
import { type Offer, type Offers, planOffers } from '../../models/routing/plan-offers.ts';
import { refuseOutcome } from '../../models/routing/refuse-outcome.ts';
import type {
  OpenedSessionHold,
  SessionHold,
  SessionHoldDeps,
  SessionHoldOwner,
} from '../billing/session-hold.ts';
import type { VoiceDeps } from '../live/voice-deps.ts';

/** Dependencies of relayed sessions beyond `VoiceDeps`. */
export type Relays<R = RealtimeRail> = {
  readonly rails: Pick<Rails<R>, 'railOf'>;
  readonly breaker: CircuitBreaker;
  readonly providerKeys: StoredKeys;
};

/** Operations that differ between kinds of relayed session: how its amount is held and how a source is connected. */
export type RelayKind<R> = {
  readonly modality: Modality;
  readonly kind: SessionHoldOwner['kind'];
  readonly idPrefix: string;
  /** Returns the amount to hold before the upstream is called; undefined when this server cannot bill the source. */
  readonly reserveRaw: (model: Model, source: Source) => bigint | undefined;
  /** Holds the amount of `reserveRaw`, or as much of it as the balance and every cap allow. */
  readonly openHold: (
    deps: SessionHoldDeps,
    owner: SessionHoldOwner,
    model: Model,
  ) => Promise<OpenedSessionHold>;
  readonly connect: (
    rail: R,
    keyed: KeyedSource & { readonly agentId: number },
    signal: StopSignal,
  ) => Promise<Outcome<{ readonly socket: UpstreamSocket }>>;
};

/** Fields that all kinds of speech-to-speech session share. */
export const SPEECH_RELAY: Pick<
  RelayKind<RealtimeRail>,
  'modality' | 'kind' | 'idPrefix' | 'connect'
> = {
  modality: 'realtime',
  kind: 'realtime',
  idPrefix: 'sess_',
  connect: (rail, { agentId, ownKey, source }, signal) =>
    rail.connect({ agentId, model: source.upstreamModel, ownKey }, signal),
};

export type RelayBuyer = Pick<Buyer, 'accountId' | 'providerKey' | 'signal' | 'spender'>;
type RelayStage<R> = { readonly model: Model; readonly offers: Offers<R> };
/** Groups of offers in the order of attempts: offers for the caller's own keys, then offers of the pool. */
export type RelayPlan<R> = readonly [RelayStage<R>, ...RelayStage<R>[]];

/**
 * Plans which upstreams can serve a live model. Resolves to undefined when no upstream can, or when this server runs the model
 * itself.
 */
export async function planRelay<R>(
  { catalogue, relays }: { readonly catalogue: Catalogue; readonly relays: Relays<R> },
  modelId: string,
  buyer: RelayBuyer,
  wanted: RelayKind<R>,
): Promise<RelayPlan<R> | undefined> {
  const own = await findOwnSources({ ...relays, catalogue }, modelId, buyer);
  const pooled = catalogue.find(modelId);
  const isLocal = pooled?.sources.some(({ provider }) => provider === 'local') === true;
  const [first, ...rest] = [
    ...stageOf(relays, own, wanted),
    ...(isLocal ? [] : stageOf(relays, pooled && pooledSources(pooled), wanted)),
  ];
  return first === undefined ? undefined : [first, ...rest];
}

function stageOf<R>(
  { rails }: Relays<R>,
  choice: ModelSources | undefined,
  { modality, reserveRaw }: RelayKind<R>,
): RelayStage<R>[] {
  if (choice?.model.modality !== modality) return [];
  const { model } = choice;
  const boundRaw = (source: Source) => reserveRaw(model, source) ?? 0n;
  const [first, ...rest] = planOffers(choice, boundRaw, (source) =>
    reserveRaw(model, source) === undefined ? undefined : rails.railOf(source),
  );
  return first === undefined ? [] : [{ model, offers: [first, ...rest] }];
}

export type ConnectedRelay = {
  readonly owner: SessionHoldOwner;
  readonly model: Model;
  readonly sessionHold: SessionHold;
  readonly upstream: UpstreamSocket;
};

type Deps<R> = Pick<VoiceDeps, 'ledger' | 'clock' | 'random' | 'log'> & {
  readonly relays: Relays<R>;
};

/**
 * Holds the reserve and connects to the first upstream of the plan that accepts. When none accepts, throws the refusal; then
 * nothing is held or charged.
 */
export async function connectRelay<R>(
  deps: Deps<R>,
  plan: RelayPlan<R>,
  buyer: RelayBuyer,
  wanted: RelayKind<R>,
): Promise<ConnectedRelay> {
  let before: Pick<Attempted<never>, 'attempts' | 'upstreamMs'> = {
    attempts: 0,
    upstreamMs: 0,
  };
  for (const [at, { model, offers }] of plan.entries()) {
    const ask = (offer: Offer<R>) => openAt(deps, { model, offer }, buyer, wanted);
    const attempted = await attemptOffers<R, { readonly relay: ConnectedRelay }>(
      { ...deps, breaker: deps.relays.breaker },
      { offers, ask, before },
    );
    const { outcome, source } = attempted;
    if (outcome.kind === 'completed') return outcome.relay;
    if (isPassedOver(outcome, source) && at + 1 < plan.length) {
      before = attempted;
      continue;
    }
    if (outcome.kind === 'declined') throw gatewayErrors.upstreamDeclined(outcome.status);
    throw refuseOutcome(outcome, attempted, { rateLimits: undefined });
  }
  throw gatewayErrors.allSourcesFailed(before.attempts);
}

async function openAt<R>(
  deps: Deps<R>,
  { model, offer }: { readonly model: Model; readonly offer: Offer<R> },
  { accountId, providerKey, signal, spender }: RelayBuyer,
  { connect, idPrefix, kind, openHold }: RelayKind<R>,
): Promise<Outcome<{ readonly relay: ConnectedRelay }>> {
  const { ownKey, rail, source } = offer;
  const sessionId = newId(deps.random, idPrefix);
  const owner: SessionHoldOwner = { spender, sessionId, kind, model: model.id, source };
  const { breaker } = deps.relays;
  const paying = { ...deps, breaker };
  const opened = await openHold(paying, owner, model);
  if (opened.kind === 'refused') return { kind: 'unaffordable', refusal: opened.refusal };

  const { sessionHold } = opened;
  const giveUp = () => sessionHold.settle({ reason: 'not_connected', status: 'failed' });
  try {
    if (ownKey !== undefined && providerKey === undefined) {
      await deps.relays.providerKeys.noteUse(accountId, source.provider);
    }
    const outcome = await connect(rail, { ...offer, agentId: spender.agentId }, signal);
    if (outcome.kind === 'completed') {
      return { ...outcome, relay: { owner, model, sessionHold, upstream: outcome.socket } };
    }
    await giveUp();
    return outcome.kind === 'declined' ? judge(deps, source, outcome) : outcome;
  } catch (error) {
    await giveUp();
    throw error;
  }
}

/** Statuses that refuse this server's own account. The caller cannot fix that account, so the next source is tried. */
const ACCOUNT_REFUSALS: ReadonlySet<number> = new Set([401, 402, 403]);

function judge(
  { log }: Pick<VoiceDeps, 'log'>,
  { provider, rail }: Source,
  declined: Declined,
): Declined | Failed {
  const { status } = declined;
  if (rail === 'byok' || !ACCOUNT_REFUSALS.has(status)) return declined;
  log.error({ provider, status }, 'a provider refused the account of this server');
  return failed('broken', `status ${status}`, status);
}
