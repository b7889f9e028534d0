import type { Spender } from '../../ledger/rules/requests.ts';
import type { CallOptions } from '../calls/call.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import { PHONE_DESTINATION } from '../calls/call-money.ts';
import { notAdmitted, requireAnswer } from '../calls/opening/admit-order.ts';
import type { NewBatch } from './batch.ts';

type FirstCalls = {
  /** Calls that the batch has at a time. */
  readonly atOnce: number;
  readonly maxSpendRaw: bigint;
  /** Options of every call of the batch. */
  readonly options: readonly CallOptions[];
};

/**
 * Throws when the balance or a cap does not cover the reserves of the batch's first calls together, or an answer of a model
 * that its calls use. Holds nothing afterwards.
 */
export async function requireFunds(
  deps: CallDeps,
  { accountId, agentId, batchId, ...batch }: NewBatch,
  { atOnce, maxSpendRaw, options }: FirstCalls,
): Promise<void> {
  const spender: Spender = { agentId, ...batch.spender, taskId: batch.spender.taskId ?? batchId };
  await requireReserves(deps, { batchId, spender, atOnce, maxSpendRaw });
  const models = new Map(options.map((each) => [each.voice.model, each]));
  let asked = 0;
  for (const each of models.values()) {
    const callId = `${batchId}.${asked++}`;
    const call = {
      accountId,
      callId,
      direction: 'outbound',
      options: each,
      rates: deps.rateCard,
    } as const;
    await requireAnswer(deps, call, spender);
  }
}

/** Holds each reserve on its own, since a cap may judge single holds, and gives all of them back. */
async function requireReserves(
  { ledger }: CallDeps,
  {
    atOnce,
    batchId,
    maxSpendRaw: amountRaw,
    spender,
  }: Omit<FirstCalls, 'options'> & { readonly batchId: string; readonly spender: Spender },
): Promise<void> {
  const asking = Array.from({ length: atOnce }, (_, n) =>
    ledger.hold({
      spender,
      holdId: `admit:${batchId}.${n}`,
      amountRaw,
      destination: PHONE_DESTINATION,
      // An order that is refused must not suspend its agent.
      isQuiet: true,
    }),
  );
  const asked = await Promise.allSettled(asking);
  const answers = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const held = answers.flatMap((each) => (each.kind === 'refused' ? [] : [each.hold]));
  await Promise.all(
    held.map((hold) =>
      ledger.settle({ hold, actualRaw: 0n, account: 'telephony', source: 'phone' }),
    ),
  );
  const failed = asked.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const refused = answers.find((each) => each.kind === 'refused');
  if (refused?.kind === 'refused') throw notAdmitted(refused.refusal);
}
