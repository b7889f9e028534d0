import { minRaw } from '../../kernel/amount.ts';
import { errors } from '../../kernel/errors.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Hold, HoldRefusal, Spender } from '../../ledger/rules/requests.ts';
import { breachFields, breachSentence } from '../../spend/limits/breach-fields.ts';
import { refuseSpend } from '../../spend/limits/refuse-spend.ts';
import { CarrierFailed } from '../carriers/carrier.ts';
import type { DialPacer, DialPlace } from '../dialling/dial-pacer.ts';
import { isStillHeld, type PlacedCall, placedCall } from '../dialling/placed-call-store.ts';
import { E164 } from '../e164.ts';
import { minuteRaw } from '../rate-card.ts';
import { findLivingNumber, findSuspension } from './account-store.ts';
import { type Call, type CallOptions, type NewCall, newCallId, type OnMachine } from './call.ts';
import type { CallDeps } from './call-deps.ts';
import { PHONE_DESTINATION } from './call-money.ts';
import { advanceRow, findCall, insertCall, learnCarrierCall } from './call-store.ts';
import { hangUpQuietly } from './hang-up-quietly.ts';
import { askLedger } from './opening/ask-ledger.ts';
import { leastReserve } from './opening/least-reserve.ts';
import { unsoldModel } from './opening/plan-voice.ts';

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
  /** The work under an `Idempotency-Key` that this is. */
  readonly workId?: string | undefined;
};

/**
 * Places a call, in its turn at the carrier. Throws the refusal of a call that is not admitted: then nothing rings. Nothing
 * is charged before the far side answers.
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
  const unsold = await unsoldModel(deps, accountId, voice);
  if (unsold !== undefined) throw errors.phone.voiceModelUnavailable(unsold);
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
  const spender = { agentId, ...order.spender, taskId };
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
    taskValueBps: order.spender.taskValueBps ?? null,
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
    workId: order.workId,
  };
  const place = deps.dials?.enter(accountId, callId);
  if (deps.dials !== undefined && place === undefined) throw notDialled(deps.dials);
  try {
    const holdId = order.workId ?? `admit:${callId}`;
    const hold = await admit(deps, spender, { holdId, leastRaw });
    await write(deps, call, { hold, spender });
    const ended = place && (await waitForTurn(deps, call, place));
    if (ended !== undefined) return placedCall(ended);
    await dial(deps, call);
  } finally {
    place?.leave();
  }
  return placedCall({ ...call, status: 'pending', terminal: false });
}

const MOST = { agent: LIMITS.phone.callsPerAgent, account: LIMITS.phone.callsPerAccount };

/**
 * Writes the row of a call while a minute of it is held, and gives the hold back. Throws where the agent or the account has too
 * many calls, and where another process has released the hold: it has taken this one for dead and may place the call itself.
 * That process looks for the row only after the release, so that one of the two dials and not both.
 */
async function write(
  deps: CallDeps,
  call: NewCall,
  { hold, spender }: { readonly hold: Hold; readonly spender: Spender },
): Promise<void> {
  const { ledger, sql } = deps;
  const nothing = { hold, actualRaw: 0n, account: 'telephony', source: 'phone' } as const;
  let isOurs = true;
  const written = await requireAnswer(deps, call, spender)
    .then(() => insertCall(sql, call, MOST))
    .then(async (verdict) => {
      isOurs = await isStillHeld(sql, hold.holdId);
      return verdict;
    })
    .finally(() => ledger.settle(nothing));
  if (written.kind === 'full') {
    const { live } = written;
    const of = live.agent >= MOST.agent ? 'agent' : 'account';
    throw errors.phone.callLimit(of, MOST[of], live[of]);
  }
  if (isOurs) return;
  await advanceRow(sql, call.callId, { type: 'carrier.refused' });
  throw errors.phone.callFailed();
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

/**
 * Throws where the spend controls of its model's maker leave no answer to a call, which would be dropped once it is picked up.
 * Whether the balance has room is asked with the reserve.
 */
async function requireAnswer(deps: CallDeps, call: NewCall, spender: Spender): Promise<void> {
  const { callId } = call;
  const least = await leastReserve(deps, call);
  const refusal = least && (await askLedger(deps.ledger, { callId, spender, ...least.answer }));
  if (refusal !== undefined && refusal.reason !== 'insufficient_balance')
    throw notAdmitted(refusal);
}

/** Holds a minute of the call, which asks the balance and every cap, until its row is written. */
async function admit(
  { ledger }: CallDeps,
  spender: Spender,
  { holdId, leastRaw }: { readonly holdId: string; readonly leastRaw: bigint },
): Promise<Hold> {
  const asked = await ledger.hold({
    spender,
    holdId,
    amountRaw: leastRaw,
    destination: PHONE_DESTINATION,
  });
  if (asked.kind === 'refused') throw notAdmitted(asked.refusal);
  return asked.hold;
}

/** Why a call is not admitted, in the words of the phone routes. */
function notAdmitted(refusal: HoldRefusal) {
  const { phone } = errors;
  switch (refusal.reason) {
    case 'insufficient_balance':
      return phone.callNotCovered(refusal.availableRaw.toString(), refusal.requiredRaw.toString());
    case 'cap_exceeded':
      return phone.callCapped(breachSentence(refusal.breach), breachFields(refusal));
    case 'host_not_allowlisted':
    case 'vendor_not_allowlisted':
      return refuseSpend(refusal);
    case 'delegation_expired':
      return phone.creditLineExpired();
    case 'agent_suspended':
      return phone.callerSuspended();
    default:
      return phone.callerNotActive();
  }
}

/** The turn of a call at the carrier. A call whose turn does not come is over: nothing rings. Undefined: it may be dialled. */
async function waitForTurn(
  { dials, sql }: CallDeps,
  { callId }: NewCall,
  place: DialPlace,
): Promise<Call | undefined> {
  const turn = await place.turn;
  // It may have been hung up at another process.
  const standing = turn === 'now' ? await findCall(sql, callId) : undefined;
  if (standing?.status === 'pending' && !standing.terminal) return undefined;
  const ended = await advanceRow(sql, callId, { type: 'carrier.ended', status: 'canceled' });
  if (turn === 'late' && dials !== undefined) throw notDialled(dials);
  return ended ?? (await findCall(sql, callId));
}

const notDialled = ({ perSecond, waiting }: DialPacer) =>
  errors.phone.dialLimit(perSecond, waiting, Math.ceil((waiting + 1) / perSecond));

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
    const status = await learnCarrierCall(sql, callId, carrierCallId);
    // It was hung up while the carrier was asked, and nobody could tell the carrier.
    if (status === 'ending') void hangUpQuietly(deps, { callId, carrierCallId });
  } catch (error) {
    if (!(error instanceof CarrierFailed)) throw error;
    log.warn({ err: error, callId }, 'a carrier did not take a call');
    // Where it is not known whether it rings, its callbacks or the sweeper find out.
    if (error.kind === 'away') throw errors.phone.callUndecided(callId);
    await advanceRow(sql, callId, { type: 'carrier.refused' });
    throw errors.phone.callFailed();
  }
}
