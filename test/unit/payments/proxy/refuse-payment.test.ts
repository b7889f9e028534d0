import { describe, expect, it } from 'vitest';
import type { HoldRefusal } from '../../../../src/ledger/rules/requests.ts';
import { refusePayment } from '../../../../src/payments/proxy/refuse-payment.ts';
import type { Policy } from '../../../../src/policy/policy.ts';
import { aPolicy } from '../../../support/a-policy.ts';

const crossed = (policy: Partial<Policy>, suspended = false): HoldRefusal => ({
  reason: 'cap_exceeded',
  availableRaw: 0n,
  suspended,
  breach: { policy: aPolicy(policy), requiredRaw: 7n, spentRaw: 995n, capRaw: 1_000n },
});

const told = (refusal: HoldRefusal) => {
  const { status, error, fields } = refusePayment(refusal);
  const { message: _, detail: __, ...rest } = fields;
  return { status, error, ...rest };
};

describe('a payment that is not made', () => {
  it('a payment refused by any cap has the error spend_limit_exceeded, and a policy is named', () => {
    const amounts = { available: '5', required: '7', spent: '995', limit: '1000' };
    expect(told(crossed({ id: 5, kind: 'api', matchKey: 'vendor.example', label: 'x' }))).toEqual({
      status: 402,
      error: 'spend_limit_exceeded',
      code: 'policy_exceeded',
      kind: 'api',
      matchKey: 'vendor.example',
      policyId: 5,
      label: 'x',
      reason: null,
      ...amounts,
    });
    for (const kind of ['task', 'vendor', 'key'] as const) {
      expect(told(crossed({ kind }))).toMatchObject({ code: 'policy_exceeded', kind, ...amounts });
    }
    // A team's session policy is a policy; an agent's is its session limit.
    const session = { kind: 'session', matchKey: null } as const;
    expect(told(crossed({ ...session, agentId: null }))).toMatchObject({ kind: 'session' });
    expect(told(crossed({ ...session, agentId: 1 }))).toEqual({
      status: 402,
      error: 'spend_limit_exceeded',
      ...amounts,
    });
  });

  it('a payment refused by a kill switch says auto_suspended only where its agent was suspended', () => {
    const policy = { action: 'suspend_agent' } as const;
    expect(told(crossed(policy, true))).toMatchObject({ auto_suspended: true });
    expect(told(crossed(policy, false))).not.toHaveProperty('auto_suspended');
  });

  it('a payment refused for its balance names the available and required amounts and the next step', () => {
    const poor = { reason: 'insufficient_balance', availableRaw: 3n, requiredRaw: 7n } as const;
    expect(told(poor)).toEqual({
      status: 402,
      error: 'insufficient_balance',
      available: '3',
      required: '7',
      next: { hint: expect.any(String), method: 'GET', path: '/v1/agents/balance' },
    });
    expect(refusePayment(poor).fields.message).toMatch(/Send USDC to the wallet/);
  });

  it('a payment refused for any other reason has the error codes of the other routes', () => {
    const payee = `0x${'aa'.repeat(20)}`;
    expect(told({ reason: 'host_not_allowlisted', host: 'a.example' })).toMatchObject({
      status: 403,
      error: 'host_not_allowlisted',
      host: 'a.example',
    });
    expect(
      told({ reason: 'vendor_not_allowlisted', host: 'a.example', recipient: payee }),
    ).toMatchObject({ status: 403, error: 'vendor_not_allowlisted', recipient: payee });
    expect(told({ reason: 'agent_closed' })).toMatchObject({
      status: 403,
      error: 'account_closed',
    });
    expect(told({ reason: 'key_revoked' })).toMatchObject({ status: 401 });
  });
});
