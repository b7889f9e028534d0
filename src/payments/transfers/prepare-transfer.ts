import { inAccountOrder } from '../../accounts/developers/in-account-order.ts';
import { assert } from '../../kernel/assert.ts';
import { uuidOf } from '../../kernel/ids.ts';
import { type Random, randomHex } from '../../kernel/random.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import { payableRaw } from '../../ledger/rules/project.ts';
import type { UsdcBalances } from '../../platform/chain/usdc-balances.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import { transferErrors } from '../errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import { requireSession } from '../ramp/require-session.ts';
import { planRoute, type TransferRequest } from './plan-transfer.ts';
import {
  type Direction,
  isSignedHere,
  type NewTransfer,
  SIGNERS,
  transferData,
} from './transfer.ts';
import { countOpenTransfers, insertTransfer } from './transfer-store.ts';

export type PrepareDeps = {
  readonly sql: Sql;
  readonly random: Random;
  readonly ledger: Pick<Ledger, 'settled'>;
  readonly spendState: Pick<SpendStateReader, 'read'>;
  readonly balances: Pick<UsdcBalances, 'lastKnown'>;
  /** True when this server can hand payouts to the chain. */
  readonly canPay: boolean;
  readonly terms: { readonly usdc: string; readonly chainId: number };
};

/** Writes a transfer down. Nothing moves before it is executed here, or sent by the developer. */
export async function prepareTransfer(
  deps: PrepareDeps,
  accountId: string,
  wanted: TransferRequest,
) {
  const { sql, terms } = deps;
  const route = await planRoute({ sql, usdc: terms.usdc }, accountId, wanted);
  const { direction, amountRaw, onrampId = null } = wanted;
  if (onrampId !== null) await requireSession(sql, accountId, onrampId);
  if (isSignedHere(direction) && !deps.canPay) throw transferErrors.unavailable();
  const availableRaw = await requireCovered(deps, direction, route, amountRaw);
  const fields = { ...route, accountId, direction, amountRaw, onrampId };
  const transfer = newTransfer(deps.random, fields);
  await inAccountOrder(sql, accountId, (tx) => addTransfer(tx, transfer));
  const answer = {
    transferId: transfer.id,
    direction,
    signerKind: SIGNERS[direction],
    fromAddress: transfer.fromAddress,
    toAddress: transfer.toAddress,
    amountRaw: amountRaw.toString(),
    availableRaw: availableRaw.toString(),
  };
  if (isSignedHere(direction)) return { ...answer, nextAction: 'execute' as const };
  const { chainId, usdc } = terms;
  return { ...answer, chainId, to: usdc, data: transferData(transfer), value: '0' };
}

/** Creates a transfer with an id and, where this server signs, the nonce of its payout. */
export function newTransfer(
  random: Random,
  fields: Omit<NewTransfer, 'id' | 'nonce'>,
): NewTransfer {
  const nonce = isSignedHere(fields.direction) ? `0x${randomHex(random, 32)}` : null;
  return { ...fields, id: uuidOf(randomHex(random, 16)), nonce };
}

/** Saves a transfer. Throws when the account has as many open ones as it may. Call it in the order of the account. */
export async function addTransfer(tx: Queryable, transfer: NewTransfer): Promise<void> {
  const { openPerAccount, preparedSeconds, signedSeconds } = PAYMENT_LIMITS.transfer;
  if ((await countOpenTransfers(tx, transfer.accountId, openPerAccount)) >= openPerAccount) {
    throw transferErrors.tooManyOpen(openPerAccount);
  }
  await insertTransfer(tx, transfer, transfer.nonce === null ? signedSeconds : preparedSeconds);
}

/**
 * Returns the amount that the sending wallet can give, and throws when it is less than wanted. Where the developer signs, an
 * unknown balance refuses nothing.
 */
export async function requireCovered(
  deps: Pick<PrepareDeps, 'ledger' | 'spendState' | 'balances'>,
  direction: Direction,
  from: { readonly agentId: number; readonly fromAddress: string },
  amountRaw: bigint,
): Promise<bigint> {
  if (!isSignedHere(direction)) {
    const heldRaw = await deps.balances.lastKnown(from.fromAddress);
    if (heldRaw !== null && amountRaw > heldRaw) {
      throw transferErrors.exceedsAvailable(amountRaw, heldRaw);
    }
    return heldRaw ?? 0n;
  }
  await deps.ledger.settled(from.agentId);
  const spend = await deps.spendState.read(from.agentId);
  assert(spend !== undefined, 'every agent has a balance');
  if (amountRaw > spend.availableRaw) {
    throw transferErrors.exceedsAvailable(amountRaw, spend.availableRaw);
  }
  const withdrawableRaw = payableRaw(spend.state, spend);
  if (amountRaw > withdrawableRaw) {
    throw transferErrors.exceedsUserBalance(amountRaw, withdrawableRaw);
  }
  return withdrawableRaw;
}
