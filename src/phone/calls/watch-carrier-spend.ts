import { ConfigError } from '../../config/config-error.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { Carrier } from '../carriers/carrier.ts';

const EVERY_MS = 60_000;

/**
 * Has the carrier call back once a month's spend crosses the limit, and cancels the callbacks for limits of earlier starts;
 * without a limit there is no callback. Retries until the carrier has agreed. Undefined when the carrier reports no spend and
 * no limit is set. Throws ConfigError when a limit is set that the carrier cannot report.
 */
export function watchCarrierSpend(
  { name, watchSpend }: Pick<Carrier, 'name' | 'watchSpend'>,
  limitUsd: number | undefined,
): Worker | undefined {
  if (watchSpend === undefined) {
    if (limitUsd === undefined) return undefined;
    throw new ConfigError(
      `PHONE_MONTHLY_CARRIER_LIMIT_USD has no effect with ${name}, which does not report its spend: ` +
        'leave it unset, and limit the spend in the account at the carrier',
    );
  }
  let isWatched = false;
  return {
    name: 'watch-carrier-spend',
    everyMs: EVERY_MS,
    async tick() {
      if (isWatched) return;
      await watchSpend(limitUsd);
      isWatched = true;
    },
  };
}
