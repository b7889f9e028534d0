import { created } from '../../../../http/route/route.ts';
import { BRAND } from '../../../../kernel/ids.ts';
import type { Numbers } from '../../../../phone/numbers/numbers.ts';

const COST_HEADER = `${BRAND.headerPrefix}cost-usdc`;

/** The answer of a purchase: the record, and in a header what its first month has cost, in raw USDC. */
export const bought = ({ number, chargedRaw }: Awaited<ReturnType<Numbers['buy']>>) =>
  created({ number }, { [COST_HEADER]: chargedRaw.toString() });
