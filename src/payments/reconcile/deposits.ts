import type { Block } from '../../platform/chain/rpc-answers.ts';
import type { Transfer } from '../../platform/chain/usdc.ts';
import type { Applied } from './applied.ts';
import { type CreditDeps, creditHeld } from './credit-held.ts';

export type DepositDeps = CreditDeps & {
  readonly findCredited: FindCredited;
  /** Extends this process's claim on the chain cursor. Rejects when another process has claimed the cursor. */
  readonly keepClaim: () => Promise<void>;
};

/** A transfer into a wallet, and the reference under which the ledger credits the transfer. */
export type Deposit = { readonly transfer: Transfer; readonly reference: string };

/** Reads the amounts credited for the given groups (one transaction into one wallet each), by the deposits' references. */
export type FindCredited = (groups: readonly string[]) => Promise<ReadonlyMap<string, bigint>>;

/**
 * Returns the common part of the references of all transfers of one transaction into one wallet; each adds the number of
 * transfers before it. The place in the block is no reference: a reorganisation may put the transaction elsewhere.
 */
const groupOf = ({ txHash, to }: Transfer): string => `deposit:${txHash}:${to}`;

/** Deposits on the chain that the ledger has not credited. */
export type Deposits = {
  readonly fresh: readonly Deposit[];
  /** Deposits beyond the amount of their transaction: another amount was credited for the transaction before. */
  readonly odd: readonly Deposit[];
};

/**
 * Returns the transfers that are not credited yet, each with the reference of its future credit.
 *
 * @internal Tests compare its names and amounts over every reading of a transaction.
 */
export async function newDeposits(
  transfers: readonly Transfer[],
  findCredited: FindCredited,
): Promise<Deposits> {
  const groups = new Map<string, Transfer[]>();
  for (const transfer of transfers) {
    const group = groups.get(groupOf(transfer));
    if (group === undefined) groups.set(groupOf(transfer), [transfer]);
    else group.push(transfer);
  }
  if (groups.size === 0) return { fresh: [], odd: [] };
  const credited = new Map<string, Map<string, bigint>>();
  for (const [reference, raw] of await findCredited([...groups.keys()])) {
    const group = reference.slice(0, reference.lastIndexOf(':'));
    credited.set(group, (credited.get(group) ?? new Map()).set(reference, raw));
  }
  const judged = [...groups].map(([group, members]) =>
    judgeGroup(group, members, credited.get(group) ?? new Map()),
  );
  return { fresh: judged.flatMap(({ fresh }) => fresh), odd: judged.flatMap(({ odd }) => odd) };
}

/** Returns true for a transfer that brings nothing: of zero, or from a wallet to itself. */
const bringsNothing = ({ valueRaw, from, to }: Transfer): boolean => valueRaw === 0n || from === to;

/**
 * Compares amounts and not only references: when a node once left out the first of two transfers, the second was credited under
 * the first one's reference. Credits at most the number of transfers in this answer, since a mismatch does not show which
 * answer of the node was complete.
 */
function judgeGroup(
  group: string,
  transfers: readonly Transfer[],
  credited: ReadonlyMap<string, bigint>,
): Deposits {
  const amounts = [...credited.values()];
  const bringing = transfers
    .map((transfer, nth) => ({ transfer, reference: `${group}:${nth}` }))
    .filter(({ transfer }) => !bringsNothing(transfer));
  const missing = bringing.filter(({ transfer }) => {
    const known = amounts.indexOf(transfer.valueRaw);
    if (known >= 0) amounts.splice(known, 1);
    return known < 0;
  });
  const room = Math.max(0, bringing.length - credited.size);
  const fresh = missing.slice(0, room);
  const taken = new Set([...credited.keys(), ...fresh.map(({ reference }) => reference)]);
  let nth = 0;
  const spare = (): string => {
    while (taken.has(`${group}:${nth}`)) nth++;
    return `${group}:${nth++}`;
  };
  const named = fresh.map(({ transfer, reference }) => ({
    transfer,
    reference: credited.has(reference) ? spare() : reference,
  }));
  return { fresh: named, odd: missing.slice(room) };
}

/**
 * Credits transfers into wallets that are not credited yet, each once, when the wallet holds the sum at block `at`. `owners`
 * are by address, lower case. Returns the agents whose deposits wait; `applied` has the credits even when this rejects.
 */
export async function takeDeposits(
  deps: DepositDeps,
  transfers: readonly Transfer[],
  owners: ReadonlyMap<string, number>,
  at: Block,
  applied: Applied[],
): Promise<ReadonlySet<number>> {
  if (transfers.length === 0) return new Set();
  // References depend on the credits before, so that two processes must not choose references at once.
  await deps.keepClaim();
  const { fresh, odd } = await newDeposits(transfers, deps.findCredited);
  const logOdd = (agentId: number, reference: string) => {
    deps.log.error({ agentId, reference }, 'a deposit was credited before with another amount');
    deps.onAlarm?.('deposit_conflict');
  };
  for (const { transfer, reference } of odd) {
    const agentId = owners.get(transfer.to);
    if (agentId !== undefined) logOdd(agentId, reference);
  }
  const credits = fresh.flatMap(({ transfer, reference }) => {
    const { to: wallet, valueRaw: amountRaw, blockNumber } = transfer;
    const agentId = owners.get(wallet);
    return agentId === undefined ? [] : [{ agentId, wallet, amountRaw, reference, blockNumber }];
  });
  return creditHeld(deps, credits, at, ({ agentId, blockNumber, reference }, { kind }) => {
    if (kind === 'conflict') logOdd(agentId, reference);
    if (kind === 'credited') applied.push({ kind: 'deposit', agentId, nonce: null, blockNumber });
  });
}
