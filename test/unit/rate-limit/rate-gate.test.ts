import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/http/route/caller.ts';
import { createRateGate, DEFAULT_RATE_LIMITS } from '../../../src/rate-limit/rate-gate.ts';
import { createRateLimiter } from '../../../src/rate-limit/rate-limit.ts';
import { SignInNetworks } from '../../../src/rate-limit/sign-in-networks.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('calls that a caller’s own provider key may pay for', () => {
  const caller: Caller = {
    kind: 'agent',
    agentId: 1,
    accountId: 'acct_1',
    keyId: 1,
    keyRootId: 1,
    permission: 'read_write',
    promptCaching: 'off',
    status: 'active',
    operatorExpiry: null,
  };
  const counted = (headers: ReadonlyMap<string, string>, rateLimit: 'gateway' | 'proxy') => ({
    route: {
      path: '/v1/x',
      rateLimit,
      credential: 'agent',
      ...(rateLimit === 'gateway' && { providerKey: 'optional' as const }),
    },
    clientAddress: () => '203.0.113.1',
    request: { headers },
  });
  const NO_HEADERS = new Map<string, string>();
  const BROUGHT = new Map([['x-svc-provider-key', 'sk']]);

  function gateOf(holds: boolean | Promise<boolean>) {
    const clock = new ManualClock();
    const gate = createRateGate(
      {
        limiter: createRateLimiter(clock),
        serverLimiter: createRateLimiter(clock),
        clock,
        signIns: new SignInNetworks(),
        holdsProviderKeys: () => holds,
      },
      { ...DEFAULT_RATE_LIMITS, gatewayPerMinute: 2, byokPerMinute: 5, agentProxyPerMinute: 3 },
    );
    return async (request: ReturnType<typeof counted>, step: 'admit' | 'admitPooled' = 'admit') => {
      for (let n = 0; ; n++) {
        try {
          await (step === 'admit'
            ? gate.admit(request, caller, [])
            : gate.admitPooled(request, caller));
        } catch {
          return n;
        }
        if (n === 10) return n;
      }
    };
  }

  it('gateway requests with a provider key have a rate-limit bucket of their own, sent with the request or stored', async () => {
    expect(await gateOf(false)(counted(BROUGHT, 'gateway'))).toBe(5);
    expect(await gateOf(true)(counted(NO_HEADERS, 'gateway'))).toBe(5);
    expect(await gateOf(Promise.resolve(true))(counted(NO_HEADERS, 'gateway'))).toBe(5);
    expect(await gateOf(Promise.resolve(false))(counted(NO_HEADERS, 'gateway'))).toBe(2);
    expect(await gateOf(true)(counted(BROUGHT, 'proxy'))).toBe(3);
    const socket = { route: { path: '/v1/x', rateLimit: 'gateway', credential: 'agent' } } as const;
    expect(await gateOf(true)({ ...counted(BROUGHT, 'gateway'), ...socket })).toBe(2);
  });

  it('requests with a provider key take from the pool’s bucket when the pool serves them, and no others do twice', async () => {
    expect(await gateOf(false)(counted(BROUGHT, 'gateway'), 'admitPooled')).toBe(2);
    expect(await gateOf(false)(counted(NO_HEADERS, 'gateway'), 'admitPooled')).toBe(10);
    expect(await gateOf(true)(counted(BROUGHT, 'proxy'), 'admitPooled')).toBe(10);
  });
});
