import { expect, it } from 'vitest';
import type { HoldRefusal } from '../../../../src/ledger/rules/requests.ts';
import { refusePurchase } from '../../../../src/phone/numbers/refuse-purchase.ts';
import { policyOf } from '../../../support/spending.ts';

const capped = (change: Parameters<typeof policyOf>[0]): HoldRefusal => ({
  reason: 'cap_exceeded',
  breach: { policy: policyOf(change), requiredRaw: 2n, spentRaw: 1n, capRaw: 2n },
  availableRaw: 1n,
  suspended: false,
});

const CASES: readonly (readonly [HoldRefusal, number, string])[] = [
  [
    { reason: 'insufficient_balance', availableRaw: 1n, requiredRaw: 2n },
    402,
    'insufficient_balance',
  ],
  [capped({ kind: 'session' }), 402, 'spend_limit_exceeded'],
  [capped({ kind: 'api', matchKey: 'phone' }), 402, 'policy_exceeded'],
  [{ reason: 'agent_suspended' }, 409, 'agent_unavailable'],
  [{ reason: 'agent_closed' }, 409, 'agent_unavailable'],
  [{ reason: 'agent_not_active' }, 409, 'agent_not_ready'],
  [{ reason: 'delegation_expired' }, 403, 'delegation_expired'],
  [{ reason: 'key_revoked' }, 401, 'Invalid API key'],
];

it('a number whose first month cannot be held is refused with the status and error of the purchase routes', () => {
  for (const [refusal, status, error] of CASES) {
    expect(refusePurchase(refusal)).toMatchObject({ status, error });
  }
});
