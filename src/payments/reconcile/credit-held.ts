import type { Log } from '../../kernel/log.ts';
import type { CreditVerdict, Ledger } from '../../ledger/rules/ledger.ts';
import type { Block } from '../../platform/chain/rpc-answers.ts';
import { usdcHeld } from '../../platform/chain/usdc-held.ts';
import type { AwaitedStore } from './awaited.ts';
import { inGroups } from './in-groups.ts';
import type { ChainView } from './judge-by-chain.ts';
import type { OnAlarm } from './payment-alarm.ts';

export type CreditDeps = {
  readonly ledger: Pick<Ledger, 'credit'>;
  readonly view: Pick<ChainView, 'rpc' | 'usdc'>;
  readonly awaited: Pick<AwaitedStore, 'findBooks' | 'add'>;
  /** The credits are all that their wallets wait for. Otherwise credits of a wallet that waits join the wait. */
  readonly isRetry?: boolean;
  readonly log: Log;
  readonly onAlarm?: OnAlarm;
};

/** USDC that the chain shows to be in a wallet, and that the book lacks. */
export type ShownCredit = {
  readonly agentId: number;
  /** Lower case. */
  readonly wallet: string;
  readonly amountRaw: bigint;
  readonly reference: string;
  readonly blockNumber: number;
};

/**
 * Credits a wallet when the wallet holds, at block `at`, all its credits in addition to its book (docs/decisions/0121).
 * Otherwise all its credits wait. Returns the agents whose credits wait.
 */
export async function creditHeld(
  deps: CreditDeps,
  credits: readonly ShownCredit[],
  at: Block,
  onVerdict: (credit: ShownCredit, verdict: CreditVerdict) => void = () => {},
): Promise<ReadonlySet<number>> {
  if (credits.length === 0) return new Set();
  const uncovered = await findUncovered(deps, credits, at);
  const waiting = credits.filter(({ agentId }) => uncovered.has(agentId));
  // Before anything is credited: the wait is written whatever happens to the credits of others.
  const news = await deps.awaited.add(waiting);
  for (const agentId of news) {
    deps.log.error(
      { agentId, block: at.number, ...uncovered.get(agentId) },
      'a wallet does not hold the USDC that the chain has shown; its deposits wait',
    );
    deps.onAlarm?.('deposit_not_held');
  }
  const covered = credits.filter(({ agentId }) => !uncovered.has(agentId));
  await inGroups(deps, covered, async (credit) => {
    const { agentId, amountRaw, reference } = credit;
    onVerdict(credit, await deps.ledger.credit({ agentId, amountRaw, reference, deposit: true }));
  });
  return new Set(uncovered.keys());
}

type Uncovered = {
  readonly wallet: string;
  readonly creditsRaw: string;
  readonly bookRaw: string;
  readonly heldRaw: string | undefined;
};

/**
 * Returns the agents whose wallets do not hold their credits, whose balances the node did not return, or whose earlier credits
 * wait.
 */
async function findUncovered(
  { awaited, isRetry = false, view }: CreditDeps,
  credits: readonly ShownCredit[],
  at: Block,
): Promise<ReadonlyMap<number, Uncovered>> {
  const sums = new Map<number, { readonly wallet: string; readonly raw: bigint }>();
  for (const { agentId, wallet, amountRaw } of credits) {
    sums.set(agentId, { wallet, raw: (sums.get(agentId)?.raw ?? 0n) + amountRaw });
  }
  const books = await awaited.findBooks([...sums.keys()]);
  const wallets = [...sums.values()].map(({ wallet }) => wallet);
  const held = await usdcHeld(view.rpc, view.usdc, at, wallets);
  const uncovered = new Map<number, Uncovered>();
  for (const [i, [agentId, { wallet, raw }]] of [...sums].entries()) {
    const heldRaw = held[i];
    const { walletRaw = 0n, missingRaw = 0n, isWaiting = false } = books.get(agentId) ?? {};
    const isJudged = heldRaw !== undefined && (isRetry || !isWaiting);
    if (isJudged && walletRaw + raw <= heldRaw + missingRaw) continue;
    const told = { wallet, creditsRaw: `${raw}`, bookRaw: `${walletRaw}` };
    uncovered.set(agentId, { ...told, heldRaw: heldRaw?.toString() });
  }
  return uncovered;
}
