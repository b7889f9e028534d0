import type { HoldRefusal } from '../ledger/ledger.ts';
import type { Breach } from '../policy/evaluate.ts';

/** The cap of a session that its agent was given: not a policy in the eyes of its caller. */
export const isSessionLimit = ({ policy }: Breach): boolean =>
  policy.kind === 'session' && policy.agentId !== null;

/** What a refusal by a cap says of it, on every route. */
export function breachFields(refusal: Extract<HoldRefusal, { reason: 'cap_exceeded' }>) {
  const { breach, suspended } = refusal;
  const { policy, requiredRaw, spentRaw, capRaw } = breach;
  const amounts = {
    required: requiredRaw.toString(),
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

/** In a sentence, for whoever reads the refusal. */
export function breachSentence(breach: Breach): string {
  const { policy } = breach;
  if (isSessionLimit(breach)) return 'The spend limit of this session does not cover this request.';
  if (policy.kind === 'key') return 'The budget of this key does not cover this request.';
  const whose = policy.agentId === null ? 'team policy' : 'policy';
  const match = policy.matchKey === null ? '' : ` "${policy.matchKey}"`;
  const article = policy.kind === 'api' ? 'An' : 'A';
  return `${article} ${policy.kind} ${whose}${match} does not cover this request.`;
}
