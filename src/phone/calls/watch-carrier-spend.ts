import type { Worker } from '../../kernel/schedule.ts';
import type { Carrier } from '../carriers/carrier.ts';

const EVERY_MS = 60_000;

/** Has the carrier call back once a month's spend crosses the limit; tries until it has agreed. Undefined: no limit. */
export function watchCarrierSpend(
  { watchSpend }: Pick<Carrier, 'watchSpend'>,
  limitUsd: number | undefined,
): Worker | undefined {
  if (watchSpend === undefined || limitUsd === undefined) return undefined;
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
