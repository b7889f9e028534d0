import type { Buyer } from '../../gateway/buyer.ts';
import type { Catalogue, Model, Source } from '../../gateway/catalogue.ts';
import { type Offer, type Offers, planOffers } from '../../gateway/plan-offers.ts';
import { refuseOutcome } from '../../gateway/purchase.ts';
import type { RealtimeRails } from '../../gateway/realtime-rails.ts';
import {
  findOwnSellers,
  pooledSellers,
  type Sellers,
  type StoredKeys,
} from '../../gateway/sellers.ts';
import { isPassedOver, type Tried, trySources } from '../../gateway/try-sources.ts';
import { newId } from '../../kernel/ids.ts';
import { refuse } from '../../kernel/refuse.ts';
import { type Declined, type Failed, failed, type Outcome } from '../../rails/outcome.ts';
import type { RealtimeRail, UpstreamSocket } from '../../rails/realtime/realtime-rail.ts';
import type { SourceRests } from '../../rails/rest-failing-source.ts';
import type { VoiceDeps } from '../voice-deps.ts';
import { openPurse, type Purse, type PurseOwner } from '../voice-purse.ts';
import { heldTimeRaw } from './time-meter.ts';
import { isBilledByTime, relayTurnRaw } from './turn-price.ts';

/** What sessions at upstreams are made of, beside what every live session is. */
export type Relays = {
  readonly rails: Pick<RealtimeRails, 'railOf'>;
  readonly rests: SourceRests;
  readonly providerKeys: StoredKeys;
};

type RelayBuyer = Pick<Buyer, 'accountId' | 'providerKey' | 'signal' | 'spender'>;
type Stage = { readonly model: Model; readonly offers: Offers<RealtimeRail> };
/** Whom to ask, first to last: at most those that the buyer has keys of, and those of the pool. */
export type RelayPlan = readonly [Stage, ...Stage[]];

/** Who could serve a realtime model from elsewhere. Undefined: nobody, or it is live inside this server. */
export async function planRelay(
  { catalogue, relays }: { readonly catalogue: Catalogue; readonly relays: Relays },
  modelId: string,
  buyer: RelayBuyer,
): Promise<RelayPlan | undefined> {
  const own = await findOwnSellers({ ...relays, catalogue }, modelId, buyer);
  const pooled = catalogue.find(modelId);
  const isLocal = pooled?.sources.some(({ provider }) => provider === 'local') === true;
  const [first, ...rest] = [
    ...stageOf(relays, own),
    ...(isLocal ? [] : stageOf(relays, pooled && pooledSellers(pooled))),
  ];
  return first === undefined ? undefined : [first, ...rest];
}

function stageOf({ rails }: Relays, sellers: Sellers | undefined): Stage[] {
  if (sellers?.model.modality !== 'realtime') return [];
  const { model } = sellers;
  const boundRaw = (source: Source) => reserveRaw(model, source);
  const [first, ...rest] = planOffers(sellers, boundRaw, (source) => rails.railOf(source));
  return first === undefined ? [] : [{ model, offers: [first, ...rest] }];
}

const reserveRaw = (model: Model, source: Source): bigint =>
  isBilledByTime(source) ? heldTimeRaw({ source }) : relayTurnRaw(model, source, 0);

export type ConnectedRelay = {
  readonly owner: PurseOwner;
  readonly model: Model;
  readonly purse: Purse;
  readonly upstream: UpstreamSocket;
};

type Deps = Pick<VoiceDeps, 'ledger' | 'clock' | 'random' | 'log'> & { readonly relays: Relays };

/**
 * Opens a session at the first upstream of a plan that answers, with its reserve held before it is asked. Throws the
 * refusal when none does; nothing stays held then, and nothing was charged.
 */
export async function connectRelay(
  deps: Deps,
  plan: RelayPlan,
  buyer: RelayBuyer,
): Promise<ConnectedRelay> {
  let before: Pick<Tried<never>, 'attempts' | 'upstreamMs'> = { attempts: 0, upstreamMs: 0 };
  for (const [at, { model, offers }] of plan.entries()) {
    const ask = (offer: Offer<RealtimeRail>) => openAt(deps, model, offer, buyer);
    const tried = await trySources<RealtimeRail, { readonly relay: ConnectedRelay }>(
      { ...deps, rests: deps.relays.rests },
      { offers, ask, before },
    );
    const { outcome, source } = tried;
    if (outcome.kind === 'completed') return outcome.relay;
    if (isPassedOver(outcome, source) && at + 1 < plan.length) {
      before = tried;
      continue;
    }
    if (outcome.kind === 'declined') throw refuse.gateway.upstreamDeclined(outcome.status);
    throw refuseOutcome(outcome, tried, { rateLimits: undefined });
  }
  throw refuse.gateway.allSourcesFailed(before.attempts);
}

async function openAt(
  deps: Deps,
  model: Model,
  { ownKey, priceRaw, rail, source }: Offer<RealtimeRail>,
  { accountId, providerKey, signal, spender }: RelayBuyer,
): Promise<Outcome<{ readonly relay: ConnectedRelay }>> {
  const sessionId = newId(deps.random, 'sess_');
  const owner: PurseOwner = { spender, sessionId, kind: 'realtime', model: model.id, source };
  const opened = await openPurse(deps, owner, priceRaw);
  if (opened.kind === 'refused') return { kind: 'unaffordable', refusal: opened.refusal };

  const { purse } = opened;
  const giveUp = () => purse.settle({ reason: 'not_connected', status: 'failed' });
  try {
    if (ownKey !== undefined && providerKey === undefined) {
      await deps.relays.providerKeys.noteUse(accountId, source.provider);
    }
    const outcome = await rail.connect({ model: source.upstreamModel, ownKey }, signal);
    if (outcome.kind === 'completed') {
      return { ...outcome, relay: { owner, model, purse, upstream: outcome.socket } };
    }
    await giveUp();
    return outcome.kind === 'declined' ? judge(deps, source, outcome) : outcome;
  } catch (error) {
    await giveUp();
    throw error;
  }
}

/** A credential of this server that is refused is nothing that its caller could mend: others are asked. */
function judge({ log }: Deps, { provider, rail }: Source, declined: Declined): Declined | Failed {
  const { status } = declined;
  if (rail === 'byok' || (status !== 401 && status !== 403)) return declined;
  log.error({ provider, status }, 'a provider refused the credential of this server');
  return failed('broken', `status ${status}`, status);
}
