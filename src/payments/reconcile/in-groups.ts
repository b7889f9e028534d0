import { ApiError } from '../../kernel/api-error.ts';
import type { Log } from '../../kernel/log.ts';
import { RpcUnavailable } from '../../platform/chain/rpc.ts';
import { isTransient } from '../../platform/postgres/transient.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { OnAlarm } from './payment-alarm.ts';

/**
 * Runs the work for all items, `atOnce` at a time: each is an operation in the ledger. Rejects at the end when a failure may
 * pass at a retry. A failure that cannot pass raises an alarm, and does not keep other items waiting.
 */
export async function inGroups<T>(
  { log, onAlarm }: { readonly log: Log; readonly onAlarm?: OnAlarm | undefined },
  items: readonly T[],
  work: (item: T) => Promise<void>,
  atOnce: number = PAYMENT_LIMITS.chain.settlementsUnderWay,
): Promise<void> {
  let passing: { readonly error: unknown } | undefined;
  for (let i = 0; i < items.length; i += atOnce) {
    const outcomes = await Promise.allSettled(items.slice(i, i + atOnce).map(work));
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      const { reason: error } = outcome;
      if (mayPass(error)) {
        passing ??= { error };
        continue;
      }
      log.error({ err: error }, 'what the chain has said cannot be written down');
      onAlarm?.('not_written');
    }
  }
  if (passing !== undefined) throw passing.error;
}

const mayPass = (error: unknown): boolean =>
  error instanceof RpcUnavailable || error instanceof ApiError || isTransient(error);
