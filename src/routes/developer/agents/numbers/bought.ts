import { created } from '../../../../http/route/route.ts';
import { BRAND } from '../../../../kernel/ids.ts';
import type { Numbers } from '../../../../phone/numbers/numbers.ts';

const COST_HEADER = `${BRAND.headerPrefix}cost-usdc`;

/** Returns the answer to a purchase: the number's record, and in a header the charge of its first month, in raw USDC. */
export const bought = ({ number, chargedRaw }: Awaited<ReturnType<Numbers['buy']>>) =>
  created({ number }, { [COST_HEADER]: chargedRaw.toString() });
