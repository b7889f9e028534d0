import type { Model } from '../../gateway/catalogue.ts';
import { destinationOf, makerOf } from '../../gateway/destination.ts';
import { refuseHold } from '../../gateway/refuse-hold.ts';
import { newId } from '../../kernel/ids.ts';
import type { HoldRefusal, Spender } from '../../ledger/ledger.ts';
import { LegFailed } from '../realtime/legs.ts';
import { DEFAULT_CONFIG, type SessionConfig } from '../realtime/session-config.ts';
import type { RealtimeInput } from '../realtime-session.ts';
import type { VoiceDeps } from '../voice-deps.ts';
import { turnRefused } from '../voice-endings.ts';
import { openPurse, type Purse, type PurseOwner } from '../voice-purse.ts';
import { type Cascades, cascadeCap, createCascadeLegs } from './cascade-legs.ts';
import { type CascadePlan, localEngineOf, sellersOf } from './plan-cascade.ts';

/** The voice that every speech model of the dialect has. */
const USUAL_VOICE = 'alloy';

/**
 * Holds what the first turn of a session of several models can cost. Throws the refusal where a model of it cannot be
 * served here, or the money is not there; nothing stays held then.
 */
export async function openCascade(
  deps: VoiceDeps & { readonly cascades: Cascades },
  plan: CascadePlan,
  opening: { readonly spender: Spender; readonly config: SessionConfig },
): Promise<RealtimeInput> {
  const { spender } = opening;
  const config = fittingVoice(plan, opening.config);
  for (const part of [plan.llm, plan.tts, plan.stt]) {
    const refused = await probe(deps, plan, part, spender);
    if (refused !== undefined) throw refuseHold(refused);
  }
  let purse: Purse | undefined;
  const legs = createCascadeLegs({
    ...{ ...deps, plan, agentId: spender.agentId },
    heldRaw: () => purse?.heldRaw ?? 0n,
    async admit(model) {
      const refused = await probe(deps, plan, model, spender);
      if (refused !== undefined) throw failureOf(refused);
    },
    afford: async (totalRaw) => {
      if (purse !== undefined) await hold(purse, totalRaw);
    },
  });
  const [cheapest] = sellersOf(plan.llm, deps.cascades.chat)(() => 0n);
  const owner: PurseOwner = {
    ...{ spender, kind: 'realtime', model: plan.model.id, source: cheapest.source },
    sessionId: newId(deps.random, 'sess_'),
  };
  const opened = await openPurse(deps, owner, legs.reserveRaw(config));
  if (opened.kind === 'refused') throw refuseHold(opened.refusal);
  purse = opened.purse;
  return { owner, purse, legs, cap: cascadeCap(plan), config };
}

async function hold(purse: Purse, totalRaw: bigint): Promise<void> {
  // What is being written down is spent as well: this comes after it.
  await purse.extend(0n);
  const missingRaw = totalRaw - (purse.heldRaw - purse.spentRaw);
  if (missingRaw <= 0n) return;
  const verdict = await purse.extend(missingRaw);
  if (verdict.kind === 'extended') return;
  if (verdict.kind === 'lost') throw new LegFailed('settled_elsewhere', 'The session is over.');
  throw failureOf(verdict.refusal);
}

function failureOf(refusal: HoldRefusal): LegFailed {
  const { error, reason } = turnRefused(refusal);
  return new LegFailed(error?.code ?? reason, error?.message ?? reason);
}

/**
 * Whether the controls of an agent leave anything for a part of another maker than the session's: its hold counts at
 * one maker alone. Answers the refusal.
 */
async function probe(
  { ledger, random }: Pick<VoiceDeps, 'ledger' | 'random'>,
  { model }: CascadePlan,
  part: Model,
  spender: Spender,
): Promise<HoldRefusal | undefined> {
  const maker = makerOf(part.id);
  if (maker === makerOf(model.id) || localEngineOf(part) !== undefined) return undefined;
  const verdict = await ledger.hold({
    ...{ spender, amountRaw: 1n, destination: destinationOf(part.id) },
    holdId: newId(random, 'buy_'),
  });
  if (verdict.kind === 'refused') return verdict.refusal;
  await ledger.settle({ hold: verdict.hold, account: 'gateway', actualRaw: 0n, source: part.id });
  return undefined;
}

/** A session that names no voice begins with one of the local engine's, which nobody else has. */
const fittingVoice = ({ tts }: CascadePlan, config: SessionConfig): SessionConfig =>
  localEngineOf(tts) === undefined && config.voice === DEFAULT_CONFIG.voice
    ? { ...config, voice: USUAL_VOICE }
    : config;
