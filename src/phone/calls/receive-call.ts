import { assert } from '../../kernel/assert.ts';
import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import { insertEvents } from '../../ledger/store/agent-funds.ts';
import type { Instruction } from '../carriers/carrier.ts';
import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';
import {
  findLivingNumber,
  findSuspension,
  findWallet,
  type LivingNumber,
} from './account-store.ts';
import { type CallOptions, type NewCall, newCallId } from './call.ts';
import type { CallDeps } from './call-deps.ts';
import { callRejected } from './call-events.ts';
import { PHONE_DESTINATION } from './call-money.ts';
import { findCarrierCall } from './call-store.ts';
import { askLedger } from './opening/ask-ledger.ts';
import { askForOptions, storedOptions } from './opening/inbound-options.ts';
import { leastReserve } from './opening/least-reserve.ts';
import { insertCall } from './opening/new-call-store.ts';

export type Ringing = {
  readonly carrierCallId: string;
  readonly from: string;
  readonly to: string;
};

export type Received =
  | { readonly kind: 'admitted'; readonly callId: string }
  | Extract<Instruction, { kind: 'reject' }>;

const BUDGET_EXCEEDED = 'budget_exceeded';
const REJECTED: Received = { kind: 'reject', reason: 'rejected' };

/**
 * Admits and writes a call to one of our numbers. A refused call costs nothing and is reported to the owner of the number. When
 * the agent has its maximum of calls, its number is busy. A repeated callback finds its call.
 */
export async function receiveCall(deps: CallDeps, ringing: Ringing): Promise<Received> {
  const { carrier, sql } = deps;
  const known = await findCarrierCall(sql, carrier.name, ringing.carrierCallId);
  if (known?.terminal) return REJECTED;
  if (known !== undefined) return { kind: 'admitted', callId: known.callId };
  const number = await findLivingNumber(sql, { phoneNumber: ringing.to });
  if (number === undefined) return REJECTED;
  const stored = await deps.voiceOf(number.agentId);
  const callId = newCallId(deps.random);
  const wanted = await askForOptions(deps, stored, {
    callId,
    agentId: number.agentId,
    accountId: number.accountId,
    from: ringing.from,
    to: ringing.to,
  });
  if (wanted === 'reject') {
    await reject(deps, number, ringing, 'inbound_rejected');
    return REJECTED;
  }
  const ofOptions = (options: CallOptions): NewCall => ({
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
    maxSpendRaw: PHONE_LIMITS.call.ceilingRaw,
    rates: deps.rateCard,
    options,
    dueInMs: PHONE_LIMITS.call.ringSeconds * 1_000 + PHONE_LIMITS.call.sweepGraceMs,
  });
  let call = ofOptions(wanted ?? storedOptions(stored));
  let refused = await refusalOf(deps, call);
  if (refused !== undefined && wanted !== undefined) {
    // The call cannot have the answer of the developer: its model is not sold, for example, or costs too much.
    call = ofOptions(storedOptions(stored));
    refused = await refusalOf(deps, call);
  }
  if (refused !== undefined) {
    await reject(deps, number, ringing, refused);
    return REJECTED;
  }
  if (deps.room?.keep(callId) !== undefined) {
    await reject(deps, number, ringing, 'capacity');
    return { kind: 'reject', reason: 'busy' };
  }
  const written = await insertCall(sql, call, deps.concurrentCalls);
  if (written.kind === 'written') return { kind: 'admitted', callId };
  deps.room?.forget(callId);
  assert(written.kind === 'full', 'a call from outside is in no batch');
  const { error } = phoneErrors.callLimit(written.of, written.limit, written.active);
  await reject(deps, number, ringing, error);
  return { kind: 'reject', reason: 'busy' };
}

/**
 * Returns the reason for which the owner of a number cannot take a call now; undefined when it can. Tries the smallest reserve
 * of the call against the balance and every cap, including the caps of a task and of the model's maker: otherwise the carrier
 * would answer a call that is dropped at once.
 */
async function refusalOf(deps: CallDeps, call: NewCall): Promise<string | undefined> {
  const { ledger, sql } = deps;
  const { accountId, agentId, callId, maxSpendRaw, taskId } = call;
  if ((await findSuspension(sql, accountId)) !== undefined) return 'telephony_suspended';
  const least = await leastReserve(deps, call);
  if (least === undefined) return 'voice_model_unavailable';
  if (least.raw > maxSpendRaw) return BUDGET_EXCEEDED;
  const asking = { spender: { agentId, taskId }, callId };
  const refusal =
    (await askLedger(ledger, { ...asking, ...least, destination: PHONE_DESTINATION })) ??
    (await askLedger(ledger, { ...asking, ...least.answer }));
  return refusal && (REASONS[refusal.reason] ?? refusal.reason);
}

const REASONS: Readonly<Partial<Record<HoldRefusal['reason'], string>>> = {
  insufficient_balance: BUDGET_EXCEEDED,
  cap_exceeded: BUDGET_EXCEEDED,
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
