import { formatUsdc } from '../../kernel/amount.ts';
import type { Ramp } from '../ramp/ramp.ts';
import type { CashOut } from './cash-out.ts';

/** The caller that asks for an order: its account, and the address that the provider wants to know. */
export type Visitor = {
  readonly accountId: string;
  readonly clientIp: string;
  /** False for a caller that may move no money, and gets no token. */
  readonly mayAct: boolean;
};

/** The provider's page for one visit of the user. */
export type Page = { readonly sessionToken: string | null; readonly payUrl: string | null };

export const NO_PAGE: Page = { sessionToken: null, payUrl: null };

/** Opens the provider's page on which the user sells the USDC of an order. */
export async function openPage(
  ramp: Ramp,
  { clientIp }: Pick<Visitor, 'clientIp'>,
  order: Pick<CashOut, 'ref' | 'ownerAddress' | 'requestedRaw'>,
): Promise<Page> {
  const { ref, ownerAddress: address, requestedRaw } = order;
  const { token } = await ramp.makeToken({ address, clientIp });
  const payUrl = ramp.sellUrl({ token, ref, amount: formatUsdc(requestedRaw) });
  return { sessionToken: token, payUrl };
}
