import { turnForLongWork } from '../../kernel/long-work.ts';
import type { CallOptions } from '../calls/call.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import { requireNumber, spendOf } from '../calls/opening/admit-order.ts';
import { findLines } from '../calls/opening/new-call-store.ts';
import { orderOptions } from '../calls/opening/order-options.ts';
import { KeptHours } from '../dialling/kept-hours.ts';
import { screenNumbers } from '../dialling/screen-numbers.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { type BatchOrder, type NewBatch, newBatchId, orderOf, type Recipient } from './batch.ts';
import type { RefusedRecipient } from './errors.ts';
import { batchErrors } from './errors.ts';
import { readRecipients, refusalOf } from './read-recipients.ts';
import { requireFunds } from './require-funds.ts';

/**
 * Validates a batch before any call: the agent, every recipient and the reserves of the first calls. Throws one refusal for the
 * whole batch, which names the refused recipients if there are any.
 */
export async function admitBatch(deps: CallDeps, order: BatchOrder): Promise<NewBatch> {
  const { maxConcurrent } = order;
  const { startWithinMs } = PHONE_LIMITS.batch;
  const nowMs = deps.clock.now();
  const startAtMs = Math.max(order.startAtMs ?? nowMs, nowMs);
  if (startAtMs > nowMs + startWithinMs) {
    throw batchErrors.invalidStart(startWithinMs / 86_400_000);
  }
  await requireNumber(deps, order);
  const lines = await findLines(deps.sql, order, deps.concurrentCalls);
  const limit = Math.min(...lines.map((line) => line.limit));
  if (maxConcurrent !== undefined && maxConcurrent > limit) {
    throw batchErrors.tooManyAtOnce(maxConcurrent, limit);
  }
  const { options, recipients } = await requireRecipients(deps, order);
  const { recipients: _, ...ordered } = order;
  const batch = { ...ordered, startAtMs, recipients, batchId: newBatchId(deps.random) };
  const atOnce = Math.min(maxConcurrent ?? limit, recipients.length);
  const [first] = options;
  if (first !== undefined) {
    const { maxSpendRaw } = spendOf(deps, order.shared, first);
    await requireFunds(deps, batch, { atOnce, maxSpendRaw, options });
  }
  return batch;
}

type Judged = {
  readonly recipients: readonly Recipient[];
  /** Options of the call to each recipient. */
  readonly options: readonly CallOptions[];
};

/**
 * Returns the recipients of a batch and the options of their calls. Throws a refusal that names the recipients that cannot be
 * called.
 */
async function requireRecipients(deps: CallDeps, order: BatchOrder): Promise<Judged> {
  const read = await readRecipients(order.recipients);
  const recipients = withVariables(order, read.recipients);
  const refused = [...read.refused, ...(await refuseNumbers(deps, order, recipients))];
  const isRefused = new Set(refused.map(({ index }) => index));
  const options: CallOptions[] = [];
  const stored = await deps.voiceOf(order.agentId);
  const voiced = { ...deps, voiceOf: async () => stored };
  for (const [index, recipient] of recipients) {
    if (index % PHONE_LIMITS.batch.perTurn === 0) await turnForLongWork();
    if (isRefused.has(index)) continue;
    try {
      options.push(await orderOptions(voiced, orderOf(order, recipient)));
    } catch (error) {
      refused.push({ index, to: recipient.to, ...refusalOf(error) });
    }
  }
  if (refused.length > 0) {
    const named = refused.sort((a, b) => a.index - b.index);
    const first = named.slice(0, PHONE_LIMITS.batch.refusalsNamed);
    throw batchErrors.recipientsRefused(first, refused.length);
  }
  return { options, recipients: [...recipients.values()] };
}

/**
 * Gives every call of a batch `variables` when at least one call has them. A name without a value is then refused and not
 * spoken.
 */
function withVariables(
  { shared }: BatchOrder,
  recipients: ReadonlyMap<number, Recipient>,
): ReadonlyMap<number, Recipient> {
  const all = [...recipients.values()].map(({ overrides }) => overrides);
  const isNamed = [shared.overrides, ...all].some(({ variables }) => variables !== undefined);
  if (!isNamed) return recipients;
  return new Map(
    [...recipients].map(([index, { overrides, to }]) => [
      index,
      { to, overrides: { ...overrides, variables: overrides.variables ?? {} } },
    ]),
  );
}

/**
 * Returns the refused recipients: numbers that must not be called, and numbers whose place leaves no permitted hour of the day.
 */
async function refuseNumbers(
  { clock, dialling, sql }: CallDeps,
  { accountId, callingHours }: BatchOrder,
  recipients: ReadonlyMap<number, Recipient>,
): Promise<readonly RefusedRecipient[]> {
  const nowMs = clock.now();
  const numbers = [...recipients.values()].map(({ to }) => to);
  const screened = await screenNumbers({ ...dialling, nowMs, sql }, numbers, accountId);
  const hours = new KeptHours([dialling.callingHours, callingHours]);
  const refused: RefusedRecipient[] = [];
  for (const [index, { to }] of recipients) {
    if (index % PHONE_LIMITS.batch.perTurn === 0) await turnForLongWork();
    const why = screened.get(to);
    if (why !== undefined) {
      refused.push({ index, to, error: 'invalid_to_number', message: `to: ${why}.` });
    } else if (!(await hours.everAdmit(to, nowMs))) {
      const message =
        'callingHours: no hour of the day is one of them at the place of this number.';
      refused.push({ index, to, error: 'no_calling_hours', message });
    }
  }
  return refused;
}
