import type { Random } from '../../kernel/random.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { Surplus } from './agent-page-store.ts';
import { newPayout } from './payout.ts';

export type SweepDeps = {
  readonly random: Random;
  readonly ledger: Pick<Ledger, 'sweep'>;
  /** Address of the treasury, in lower case. */
  readonly treasury: string;
};

/**
 * Plans the payout of a wallet's surplus, beyond all claims on the wallet, to the treasury. The ledger decides the amount,
 * which is zero when another process has planned it a moment ago.
 */
export async function sweepSurplus(
  { random, ledger, treasury }: SweepDeps,
  { id: agentId, wallet }: Surplus,
): Promise<void> {
  const payout = newPayout(random, 'sweep', { wallet, payee: treasury });
  await ledger.sweep({ agentId, payout, leastRaw: PAYMENT_LIMITS.payout.sweepLeastRaw });
}
