import { assert } from '../../kernel/assert.ts';
import { readAt, spendStateOf } from '../../ledger/rules/spend-state.ts';
import { findBalance } from '../../ledger/store/balances.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { controlErrors } from '../errors.ts';
import type { Change } from '../policies/change-controls.ts';
import type { StoredPolicy } from '../policies/policy-request.ts';

/**
 * Makes a change that may reserve more of an agent's money for a task, and undoes it unless the spendable, unreserved money
 * covers the addition. The agent's row is locked, so that the money stays there.
 */
export async function requireCovered(
  { tx, nowMs }: Change,
  policy: Pick<StoredPolicy, 'limitRaw'> & { readonly agentId: number | null },
  work: () => Promise<unknown>,
): Promise<void> {
  assert(policy.agentId !== null, 'only an agent has money');
  const before = await readKept(tx, policy.agentId, nowMs);
  await work();
  const after = await readKept(tx, policy.agentId, nowMs);
  if (after.keptRaw <= before.keptRaw || after.keptRaw <= after.spendableRaw) return;
  const freeRaw = before.spendableRaw - before.keptRaw;
  throw controlErrors.insufficientBalance(
    (freeRaw > 0n ? freeRaw : 0n).toString(),
    policy.limitRaw.toString(),
  );
}

async function readKept(tx: Queryable, agentId: number, nowMs: number) {
  const balance = await findBalance(tx, agentId);
  assert(balance !== undefined, 'every agent has a balance');
  const { state, reservedRaw: keptRaw } = spendStateOf(readAt(balance, nowMs));
  return { spendableRaw: state.spendableRaw, keptRaw };
}
