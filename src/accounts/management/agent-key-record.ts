import type { BudgetView } from '../../spend/limits/key-budgets.ts';
import type { Key } from '../keys/key.ts';

/** An agent key on the wire. */
export const agentKeyRecord = (key: Key, budget: BudgetView | null) => ({
  id: key.id,
  keyId: key.id,
  keyPrefix: key.prefix,
  label: key.label,
  permissions: key.permissions,
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  createdAt: key.createdAt.toISOString(),
  budget,
});
