import { authorizationStates } from '../../platform/chain/authorization-states.ts';
import type { Block } from '../../platform/chain/rpc-answers.ts';
import type { Reservation } from '../reservations/reservation.ts';
import type { AwaitedWallet } from './awaited.ts';
import { type CreditDeps, creditHeld, type ShownCredit } from './credit-held.ts';
import type { ChainView } from './judge-by-chain.ts';

export type RecoverDeps = CreditDeps & {
  readonly view: ChainView;
  /** Returns payments that were settled lately, while a reorganisation may still undo the transfer. */
  readonly findSettled: () => Promise<readonly Reservation[]>;
  /** Returns true when a settled payment was credited again after a reorganisation had removed it from the chain. */
  readonly wasGivenBack: (nonce: string) => Promise<boolean>;
};

/**
 * Credits payments again, once, that were settled on a removed branch and can never be paid on the present branch. Returns the
 * number of payments that may still be paid or whose state is unknown: until these payments are decided, the chain is read from
 * the block where the branches parted.
 */
export async function recoverVanished(deps: RecoverDeps, at: Block): Promise<number> {
  const { lost, mayReturn, undecided } = await findVanished(deps, await deps.findSettled(), at);
  for (const { nonce, agentId } of mayReturn) {
    deps.log.error({ nonce, agentId }, 'a settled payment has left the chain; it may come back');
  }
  for (const { nonce, agentId } of lost) {
    deps.log.error({ nonce, agentId }, 'a settled payment has left the chain for good');
    deps.onAlarm?.('settlement_vanished');
  }
  await creditHeld(deps, creditsOf(lost, at.number), at);
  return undecided + mayReturn.length;
}

/** Retries the payments of one wallet whose credits wait. Returns whether none of them waits any more. */
export async function recoverAwaited(
  deps: RecoverDeps,
  { agentId, toBlock }: AwaitedWallet,
  at: Block,
): Promise<boolean> {
  const settled = (await deps.findSettled()).filter((row) => row.agentId === agentId);
  const { lost } = await findVanished(deps, settled, at);
  return (await creditHeld(deps, creditsOf(lost, toBlock), at)).size === 0;
}

/** Returns the credits of vanished payments, whose USDC never left the wallet. */
const creditsOf = (rows: readonly Reservation[], blockNumber: number): readonly ShownCredit[] =>
  rows
    .filter(({ valueRaw }) => valueRaw > 0n)
    .map(({ agentId, nonce, valueRaw: amountRaw, wallet }) => ({
      agentId,
      wallet,
      amountRaw,
      reference: `vanished:${nonce}`,
      blockNumber,
    }));

type Vanished = {
  /** Can never be paid any more, and are not given back yet. */
  readonly lost: readonly Reservation[];
  readonly mayReturn: readonly Reservation[];
  /** Number of payments whose state the chain did not answer. */
  readonly undecided: number;
};

async function findVanished(
  { view, wasGivenBack }: RecoverDeps,
  settled: readonly Reservation[],
  at: Block,
): Promise<Vanished> {
  if (settled.length === 0) return { lost: [], mayReturn: [], undecided: 0 };
  const states = await authorizationStates(view.rpc, view.usdc, at, settled);
  const unused = settled.filter((_, i) => states[i] === false);
  const mayReturn = unused.filter(({ validBefore }) => at.timestampSec < validBefore);
  const lost: Reservation[] = [];
  for (const row of unused) {
    if (at.timestampSec < row.validBefore || (await wasGivenBack(row.nonce))) continue;
    lost.push(row);
  }
  return { lost, mayReturn, undecided: states.filter((state) => state === undefined).length };
}
