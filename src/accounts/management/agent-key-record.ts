import type { BudgetView } from '../../spend/limits/key-budgets.ts';
import type { AgentKey } from '../keys/key.ts';

/** Returns an agent key as routes show it. */
export const agentKeyRecord = (key: AgentKey, budget: BudgetView | null) => ({
  id: key.id,
  keyId: key.id,
  keyPrefix: key.prefix,
  label: key.label,
  permissions: key.permissions,
  promptCaching: key.promptCaching,
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  createdAt: key.createdAt.toISOString(),
  budget,
});
