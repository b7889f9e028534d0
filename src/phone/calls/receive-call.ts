import { errors } from '../../kernel/errors.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import { insertEvents } from '../../ledger/store/agent-funds.ts';
import type { Instruction } from '../carriers/carrier.ts';
import { minuteRaw } from '../rate-card.ts';
import {
  findLivingNumber,
  findSuspension,
  findWallet,
  type LivingNumber,
} from './account-store.ts';
import { type AgentVoice, newCallId } from './call.ts';
import type { CallDeps } from './call-deps.ts';
import { callRejected } from './call-events.ts';
import { PHONE_DESTINATION } from './call-money.ts';
import { findCarrierCall, insertCall } from './call-store.ts';
import { unsoldModel } from './opening/plan-voice.ts';

export type Ringing = {
  readonly carrierCallId: string;
  readonly from: string;
  readonly to: string;
};

const LINE = { direction: 'inbound', detectsMachine: false } as const;

export type Received =
  | { readonly kind: 'admitted'; readonly callId: string }
  | Extract<Instruction, { kind: 'reject' }>;

const REJECTED: Received = { kind: 'reject', reason: 'rejected' };

/**
 * Admits a call to one of the numbers, and writes it. One that is refused costs nothing and is reported to the owner of
 * the number; where the agent talks to as many as it may, its number is busy. A callback that comes again finds its call.
 */
export async function receiveCall(deps: CallDeps, ringing: Ringing): Promise<Received> {
  const { carrier, sql } = deps;
  const known = await findCarrierCall(sql, carrier.name, ringing.carrierCallId);
  if (known?.terminal) return REJECTED;
  if (known !== undefined) return { kind: 'admitted', callId: known.callId };
  const number = await findLivingNumber(sql, { phoneNumber: ringing.to });
  if (number === undefined) return REJECTED;
  const settings = await deps.voiceOf(number.agentId);
  const refused = await refusalOf(deps, number, settings);
  if (refused !== undefined) {
    await reject(deps, number, ringing, refused);
    return REJECTED;
  }
  const { recordCalls, reportCalls, ...voice } = settings;
  const callId = newCallId(deps.random);
  const most = { agent: LIMITS.phone.callsPerAgent, account: LIMITS.phone.callsPerAccount };
  const written = await insertCall(
    sql,
    {
      callId,
      agentId: number.agentId,
      accountId: number.accountId,
      numberId: number.numberId,
      carrier: carrier.name,
      carrierCallId: ringing.carrierCallId,
      direction: 'inbound',
      from: ringing.from,
      to: ringing.to,
      keyId: null,
      taskId: callId.toLowerCase(),
      taskValueBps: null,
      actionId: null,
      customerId: null,
      maxSpendRaw: LIMITS.phone.callCeilingRaw,
      rates: deps.rateCard,
      options: {
        voice,
        detectsMachine: false,
        isRecorded: recordCalls,
        wantsReport: reportCalls,
      },
      dueInMs: LIMITS.phone.ringSeconds * 1_000 + LIMITS.phone.sweepGraceMs,
    },
    most,
  );
  if (written.kind === 'written') return { kind: 'admitted', callId };
  const { error } = errors.phone.callLimit('agent', most.agent, most.agent);
  await reject(deps, number, ringing, error);
  return { kind: 'reject', reason: 'busy' };
}

/** Why the owner of a number does not take a call now; undefined: it does. */
async function refusalOf(
  deps: CallDeps,
  { accountId, agentId }: LivingNumber,
  settings: AgentVoice,
): Promise<string | undefined> {
  const { ledger, random, rateCard, sql } = deps;
  if ((await findSuspension(sql, accountId)) !== undefined) return 'telephony_suspended';
  const unsold = await unsoldModel(deps, accountId, settings);
  if (unsold !== undefined) return errors.phone.voiceModelUnavailable(unsold).error;
  const asked = await ledger.hold({
    spender: { agentId },
    holdId: `admit:${newCallId(random)}`,
    amountRaw: minuteRaw(rateCard, LINE, settings.recordCalls),
    destination: PHONE_DESTINATION,
  });
  if (asked.kind === 'refused') return REASONS[asked.refusal.reason] ?? asked.refusal.reason;
  const { hold } = asked;
  await ledger.settle({ hold, actualRaw: 0n, account: 'telephony', source: 'phone' });
  return undefined;
}

const REASONS: Readonly<Partial<Record<HoldRefusal['reason'], string>>> = {
  insufficient_balance: 'budget_exceeded',
  cap_exceeded: 'budget_exceeded',
};

async function reject(
  { sql }: CallDeps,
  { accountId, agentId }: LivingNumber,
  { from, to }: Ringing,
  reason: string,
): Promise<void> {
  const wallet = await findWallet(sql, agentId);
  const call = {
    callId: null,
    accountId,
    wallet,
    direction: 'inbound',
    from,
    to,
    taskId: '',
    customerId: null,
  } as const;
  await sql.begin((tx) => insertEvents(tx, [callRejected(call, reason)]));
}
