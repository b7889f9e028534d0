import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import type { Breach } from '../../policy/evaluate.ts';

/** Returns true for a breach of an agent's session limit, which callers do not see as a policy. */
export const isSessionLimit = ({ policy }: Breach): boolean =>
  policy.kind === 'session' && policy.agentId !== null;

/**
 * Returns the fields of a refusal by a cap, the same on every route. `requiredRaw` is null when the price is unknown: a used-up
 * cap refuses a call before its vendor is called.
 */
export function breachFields(
  refusal: Extract<HoldRefusal, { reason: 'cap_exceeded' }>,
  requiredRaw: bigint | null = refusal.breach.requiredRaw,
) {
  const { breach, suspended } = refusal;
  const { policy, spentRaw, capRaw } = breach;
  const amounts = {
    // A cap that was lowered below the spent amount leaves 0, not a negative amount.
    available: (capRaw > spentRaw ? capRaw - spentRaw : 0n).toString(),
    required: requiredRaw?.toString() ?? null,
    spent: spentRaw.toString(),
    limit: capRaw.toString(),
  };
  if (isSessionLimit(breach)) return amounts;
  return {
    kind: policy.kind,
    matchKey: policy.matchKey,
    policyId: policy.id,
    label: policy.label,
    reason: null,
    ...amounts,
    ...(suspended && { auto_suspended: true }),
  };
}

/** Returns the sentence that tells the reader of a refusal which cap was exceeded. */
export function breachSentence(breach: Breach): string {
  const { policy } = breach;
  if (isSessionLimit(breach)) return 'The spend limit of this session does not cover this request.';
  if (policy.kind === 'key') return 'The budget of this key does not cover this request.';
  const whose = policy.agentId === null ? 'team policy' : 'policy';
  const match = policy.matchKey === null ? '' : ` "${policy.matchKey}"`;
  const article = policy.kind === 'api' ? 'An' : 'A';
  return `${article} ${policy.kind} ${whose}${match} does not cover this request.`;
}
