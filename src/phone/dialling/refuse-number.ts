import type { Clock } from '../../kernel/clock.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { DialRefusal } from '../calls/call-deps.ts';
import { type DiallingPolicy, judgeNumber } from './dialling-guard.ts';
import { createDoNotCall } from './do-not-call.ts';

/** Returns the reason for which an account may not call a number now. Undefined when it may. */
export async function refuseNumber(
  deps: Pick<DiallingPolicy, 'countries' | 'callingHours'> & {
    readonly sql: Sql;
    readonly clock: Clock;
  },
  to: string,
  accountId: string,
): Promise<DialRefusal | undefined> {
  const { callingHours, clock, countries, sql } = deps;
  const doNotCall = await createDoNotCall({ sql }).has(accountId, to);
  const policy = { callingHours, countries, doNotCall, nowMs: clock.now() };
  const verdict = await judgeNumber(to, policy);
  return verdict.kind === 'allowed'
    ? undefined
    : { reason: verdict.reason, message: verdict.message };
}
