import { minRaw } from '../../kernel/amount.ts';
import { errors } from '../../kernel/errors.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { HoldRefusal, Spender } from '../../ledger/rules/requests.ts';
import { breachFields, breachSentence } from '../../spend/limits/breach-fields.ts';
import { CarrierFailed } from '../carriers/carrier.ts';
import { E164 } from '../e164.ts';
import { minuteRaw } from '../rate-card.ts';
import { findLivingNumber, findSuspension } from './account-store.ts';
import { type Call, type CallOptions, newCallId, type OnMachine } from './call.ts';
import type { CallDeps } from './call-deps.ts';
import { PHONE_DESTINATION } from './call-money.ts';
import { advanceRow, insertCall, learnCarrierCall, type NewCall } from './call-store.ts';

export type CallOrder = {
  readonly agentId: number;
  readonly accountId: string;
  readonly spender: Omit<Spender, 'agentId'>;
  readonly to: string;
  /** The most that the call may cost, as its caller names it. */
  readonly maxSpendRaw: bigint | undefined;
  readonly detectsMachine: boolean;
  /** Undefined: nothing, where a machine is detected. */
  readonly onMachine?: OnMachine | undefined;
  readonly machineMessage?: string | undefined;
  readonly wantsReport: boolean;
  /** Who judges the call after its end; naming it asks for a report as well. */
  readonly analysis?: 'rules' | 'model' | undefined;
  readonly isRecorded: boolean;
};

export type PlacedCall = Pick<Call, 'callId' | 'from' | 'to' | 'taskId'>;

/**
 * Places a call. Throws the refusal of a call that is not admitted: then nothing rings, and there is no call. Nothing is
 * charged before the far side answers.
 */
export async function placeCall(deps: CallDeps, order: CallOrder): Promise<PlacedCall> {
  const { carrier, random, rateCard, sql } = deps;
  const { accountId, agentId, to } = order;
  if (!E164.test(to)) {
    throw errors.phone.invalidToNumber('a number in E.164, such as +14155550100');
  }
  const refusal = await deps.refusalOf(to, accountId);
  if (refusal !== undefined) throw errors.phone.invalidToNumber(refusal.message);
  if ((await findSuspension(sql, accountId)) !== undefined) throw errors.phone.telephonySuspended();
  const number = await findLivingNumber(sql, { agentId });
  if (number === undefined) throw errors.phone.numberRequired();

  const voice = await deps.voiceOf(agentId);
  const machine = machineOptions(order, voice);
  const line = {
    direction: 'outbound',
    detectsMachine: machine.detectsMachine,
  } as const;
  const leastRaw = minuteRaw(rateCard, line, order.isRecorded);
  const ceilingRaw = LIMITS.phone.callCeilingRaw;
  const wantedRaw = order.maxSpendRaw ?? ceilingRaw;
  const maxSpendRaw = minRaw(wantedRaw, ceilingRaw);
  if (maxSpendRaw < leastRaw) throw errors.phone.maxSpendTooLow(leastRaw.toString());

  const callId = newCallId(random);
  const taskId = order.spender.taskId ?? callId.toLowerCase();
  await admit(deps, { ...order.spender, agentId, taskId }, { callId, leastRaw });
  const call: NewCall = {
    callId,
    agentId,
    accountId,
    numberId: number.numberId,
    carrier: carrier.name,
    carrierCallId: null,
    direction: 'outbound',
    from: number.phoneNumber,
    to,
    keyId: order.spender.keyId ?? null,
    taskId,
    actionId: order.spender.actionId ?? null,
    customerId: order.spender.customerId ?? null,
    maxSpendRaw,
    rates: rateCard,
    options: {
      voice,
      ...machine,
      isRecorded: order.isRecorded,
      wantsReport: order.wantsReport || order.analysis !== undefined,
      ...(order.analysis === 'model' && { analysis: order.analysis }),
    },
    dueInMs: LIMITS.phone.ringSeconds * 1_000 + LIMITS.phone.sweepGraceMs,
  };
  const most = { agent: LIMITS.phone.callsPerAgent, account: LIMITS.phone.callsPerAccount };
  const written = await insertCall(sql, call, most);
  if (written.kind === 'full') {
    const { live } = written;
    const of = live.agent >= most.agent ? 'agent' : 'account';
    throw errors.phone.callLimit(of, most[of], live[of]);
  }
  await dial(deps, call);
  return { callId, from: call.from, to, taskId };
}

/** What is done about a machine. Throws where one is to be told something, and nothing is there to tell. */
function machineOptions(
  { detectsMachine, machineMessage, onMachine }: CallOrder,
  { beginMessage }: CallOptions['voice'],
): Pick<CallOptions, 'detectsMachine' | 'onMachine' | 'machineMessage'> {
  if (machineMessage !== undefined && onMachine !== 'leave_message') {
    throw errors.phone.machineMessageUnused();
  }
  if (onMachine === undefined) return { detectsMachine };
  if (onMachine !== 'leave_message') return { detectsMachine: true, onMachine };
  const message = machineMessage ?? beginMessage;
  if (message === null || message.trim() === '') throw errors.phone.machineMessageRequired();
  return { detectsMachine: true, onMachine, machineMessage: message };
}

/** Whether a minute of the call could be paid now: asks the balance and every cap, and keeps nothing. */
async function admit(
  { ledger }: CallDeps,
  spender: Spender,
  { callId, leastRaw }: { readonly callId: string; readonly leastRaw: bigint },
): Promise<void> {
  const asked = await ledger.hold({
    spender,
    holdId: `admit:${callId}`,
    amountRaw: leastRaw,
    destination: PHONE_DESTINATION,
  });
  if (asked.kind === 'refused') throw notAdmitted(asked.refusal);
  const { hold } = asked;
  await ledger.settle({ hold, actualRaw: 0n, account: 'telephony', source: 'phone' });
}

/** Why a call is not admitted, in the words of the phone routes. */
function notAdmitted(refusal: HoldRefusal) {
  const { phone } = errors;
  switch (refusal.reason) {
    case 'insufficient_balance':
      return phone.callNotCovered(refusal.availableRaw.toString(), refusal.requiredRaw.toString());
    case 'cap_exceeded':
      return phone.callCapped(breachSentence(refusal.breach), breachFields(refusal));
    case 'delegation_expired':
      return phone.creditLineExpired();
    case 'agent_suspended':
      return phone.callerSuspended();
    default:
      return phone.callerNotActive();
  }
}

async function dial(deps: CallDeps, call: NewCall): Promise<void> {
  const { carrier, log, sql } = deps;
  const { callId, from, options, to } = call;
  try {
    const { carrierCallId } = await carrier.calls.dial({
      callId,
      from,
      to,
      ringSeconds: LIMITS.phone.ringSeconds,
      longestSeconds: LIMITS.phone.longestCallSeconds + LIMITS.phone.carrierMarginSeconds,
      detectsMachine: options.detectsMachine,
      awaitsGreetingEnd: options.onMachine === 'leave_message',
    });
    await learnCarrierCall(sql, callId, carrierCallId);
  } catch (error) {
    if (!(error instanceof CarrierFailed)) throw error;
    log.warn({ err: error, callId }, 'a carrier did not take a call');
    // Where it is not known whether it rings, its callbacks or the sweeper find out.
    if (error.kind !== 'away') await advanceRow(sql, callId, { type: 'carrier.refused' });
    throw errors.phone.callFailed();
  }
}
