import { turnForLongWork } from '../../kernel/long-work.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { E164 } from '../e164.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { type DiallingPolicy, judgeNumber } from './dialling-guard.ts';
import { findListed } from './do-not-call-store.ts';

const ANY_HOUR = { from: 0, until: 24 };

/**
 * Returns the numbers that an account may never call, each with the reason as a sentence without its full stop. Calling hours
 * are not checked. The event loop gets a turn after every few numbers.
 */
export async function screenNumbers(
  { countries, nowMs, sql }: Pick<DiallingPolicy, 'countries' | 'nowMs'> & { readonly sql: Sql },
  numbers: readonly string[],
  accountId: string,
): Promise<ReadonlyMap<string, string>> {
  const wellFormed = numbers.filter((to) => E164.test(to));
  const listed = await findListed(sql, accountId, wellFormed);
  const refused = new Map<string, string>();
  for (const [at, to] of numbers.entries()) {
    if (at % PHONE_LIMITS.batch.perTurn === 0) await turnForLongWork();
    const doNotCall = listed.has(to);
    const policy = { countries, callingHours: ANY_HOUR, doNotCall, nowMs };
    const verdict = await judgeNumber(to, policy);
    if (verdict.kind === 'refused') refused.set(to, verdict.message);
  }
  return refused;
}
