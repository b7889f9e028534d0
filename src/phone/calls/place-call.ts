import type { Hold, Spender } from '../../ledger/rules/requests.ts';
import { batchErrors } from '../batches/errors.ts';
import { CarrierFailed } from '../carriers/carrier.ts';
import type { DialPacer, DialPlace } from '../dialling/dial-pacer.ts';
import { isStillHeld, type PlacedCall, placedCall } from '../dialling/placed-call-store.ts';
import { E164 } from '../e164.ts';
import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { type Call, type NewCall, newCallId } from './call.ts';
import type { CallDeps } from './call-deps.ts';
import { PHONE_DESTINATION } from './call-money.ts';
import { advanceRow, findCall, learnCarrierCall } from './call-store.ts';
import { hangUpQuietly } from './hang-up-quietly.ts';
import { notAdmitted, requireAnswer, requireNumber, spendOf } from './opening/admit-order.ts';
import { askLedger } from './opening/ask-ledger.ts';
import { insertCall } from './opening/new-call-store.ts';
import { type CallOrder, orderOptions } from './opening/order-options.ts';

/**
 * Places a call when its turn in the carrier's queue comes. Throws when the call is not admitted: nothing rings then. Nothing
 * is charged before the callee answers.
 */
export async function placeCall(deps: CallDeps, order: CallOrder): Promise<PlacedCall> {
  const { carrier, random, rateCard } = deps;
  const { accountId, agentId, to } = order;
  if (!E164.test(to)) {
    throw phoneErrors.invalidToNumber('must be a number with its country, such as +14155550100');
  }
  const refusal = await deps.refusalOf(to, accountId);
  if (refusal !== undefined) throw phoneErrors.invalidToNumber(refusal.message);
  const number = await requireNumber(deps, order);
  const options = await orderOptions(deps, order);
  const { leastRaw, maxSpendRaw } = spendOf(deps, order, options);

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
    options,
    dueInMs: PHONE_LIMITS.call.ringSeconds * 1_000 + PHONE_LIMITS.call.sweepGraceMs,
    workId: order.workId,
    batch: order.batch,
  };
  const fullForSeconds = deps.room?.keep(callId);
  if (fullForSeconds !== undefined) throw phoneErrors.capacity(fullForSeconds);
  let isDialled = false;
  const place = deps.dials?.enter(accountId, callId);
  try {
    if (deps.dials !== undefined && place === undefined) throw notDialled(deps.dials);
    const holdId = order.workId ?? `admit:${callId}`;
    // The calls of a batch run at the same time: a call is dialled only if its reserve fits beside the reserves of the calls in
    // progress.
    if (order.batch !== undefined) await requireReserve(deps, call, spender);
    const hold = await admit(deps, spender, { holdId, leastRaw });
    await write(deps, call, { hold, spender });
    const ended = place && (await waitForTurn(deps, call, place));
    if (ended !== undefined) return placedCall(ended);
    isDialled = true;
    await dial(deps, call);
  } finally {
    place?.leave();
    if (!isDialled) deps.room?.forget(callId);
  }
  return placedCall({ ...call, status: 'pending', terminal: false });
}

/**
 * Writes the row of a call while a minute of it is held, and releases the hold. Throws when the agent or the account has too
 * many calls, when its batch was stopped, and when another process has released the hold: that process takes this one for dead
 * and may place the call itself. It looks for the row only after the release, so that only one of the two processes dials.
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
    .then(() => insertCall(sql, call, deps.concurrentCalls))
    .then(async (verdict) => {
      isOurs = await isStillHeld(sql, hold.holdId);
      return verdict;
    })
    .finally(() => ledger.settle(nothing));
  if (written.kind === 'full') {
    throw phoneErrors.callLimit(written.of, written.limit, written.active);
  }
  if (written.kind === 'stopped') throw batchErrors.stopped();
  if (isOurs) return;
  await advanceRow(sql, call.callId, { type: 'carrier.refused' });
  throw phoneErrors.callFailed();
}

/** Throws when the balance or a cap does not have the reserve of a call left now. */
async function requireReserve(
  { ledger }: CallDeps,
  { callId, maxSpendRaw: raw }: NewCall,
  spender: Spender,
): Promise<void> {
  const asked = { callId, spender, raw, destination: PHONE_DESTINATION, isQuiet: true };
  const refusal = await askLedger(ledger, asked);
  if (refusal !== undefined) throw notAdmitted(refusal);
}

/** Holds the price of a minute until the call's row is written, so that the balance and every cap are checked. */
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

/**
 * Waits for the turn of a call in the carrier's queue. Undefined when the call may be dialled. Ends a call whose turn does not
 * come, and returns it or throws.
 */
async function waitForTurn(
  { dials, sql }: CallDeps,
  { callId }: NewCall,
  place: DialPlace,
): Promise<Call | undefined> {
  const turn = await place.turn;
  // Another process may have received a hang-up.
  const standing = turn === 'now' ? await findCall(sql, callId) : undefined;
  if (standing?.status === 'pending' && !standing.terminal) return undefined;
  const ended = await advanceRow(sql, callId, { type: 'carrier.ended', status: 'canceled' });
  if (turn === 'late' && dials !== undefined) throw notDialled(dials);
  return ended ?? (await findCall(sql, callId));
}

const notDialled = ({ perSecond, waiting }: DialPacer) =>
  phoneErrors.dialLimit(perSecond, waiting, Math.ceil((waiting + 1) / perSecond));

async function dial(deps: CallDeps, call: NewCall): Promise<void> {
  const { carrier, log, sql } = deps;
  const { callId, from, options, to } = call;
  try {
    const { carrierCallId } = await carrier.calls.dial({
      callId,
      from,
      to,
      ringSeconds: PHONE_LIMITS.call.ringSeconds,
      longestSeconds: PHONE_LIMITS.call.longestSeconds + PHONE_LIMITS.call.carrierMarginSeconds,
      detectsMachine: options.detectsMachine,
      awaitsGreetingEnd: options.onMachine === 'leave_message',
    });
    const status = await learnCarrierCall(sql, callId, carrierCallId);
    // The call was hung up while the carrier was dialling it, when its id at the carrier was not known yet.
    if (status === 'ending') void hangUpQuietly(deps, { callId, carrierCallId });
  } catch (error) {
    if (!(error instanceof CarrierFailed)) throw error;
    log.warn({ err: error, callId }, 'a carrier did not take a call');
    // The call may be ringing: its callbacks or the sweeper find out.
    if (error.kind === 'away') throw phoneErrors.callUndecided(callId);
    deps.room?.forget(callId);
    if (error.kind === 'invalid') {
      await advanceRow(sql, callId, { type: 'carrier.ended', status: 'invalid' });
      throw phoneErrors.invalidToNumber('the carrier knows no such number');
    }
    await advanceRow(sql, callId, { type: 'carrier.refused' });
    throw phoneErrors.callFailed();
  }
}
