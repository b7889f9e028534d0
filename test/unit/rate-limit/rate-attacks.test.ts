import { describe, expect, it } from 'vitest';
import type { AgentCaller, Caller } from '../../../src/http/route/caller.ts';
import { ApiError } from '../../../src/kernel/api-error.ts';
import { createRateGate, DEFAULT_RATE_LIMITS } from '../../../src/rate-limit/rate-gate.ts';
import { createRateLimiter } from '../../../src/rate-limit/rate-limit.ts';
import { SignInNetworks } from '../../../src/rate-limit/sign-in-networks.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const SECONDS = 120;
const NOBODY: Caller = { kind: 'none' };

const agent = (agentId: number, accountId: string, hasMoney = false): AgentCaller => ({
  kind: 'agent',
  agentId,
  accountId,
  keyId: agentId,
  keyRootId: agentId,
  hasMoney,
  permission: 'read_write',
  promptCaching: 'off',
  status: 'active',
  operatorExpiry: null,
});

/** The gate with the limits of production, on a clock that the test moves. */
function world() {
  const clock = new ManualClock();
  const signIns = new SignInNetworks();
  const gate = createRateGate(
    { limiter: createRateLimiter(clock), serverLimiter: createRateLimiter(clock), clock, signIns },
    DEFAULT_RATE_LIMITS,
  );
  /** Asks for `/v1/agents/balance`; the reason where it is refused. */
  const ask = (caller: Caller, address: string): unknown => {
    const route = { path: '/v1/agents/balance', credential: 'agent' };
    try {
      void gate.admit({ route, clientAddress: () => address }, caller, []);
    } catch (thrown) {
      return thrown instanceof ApiError ? thrown.fields.reason : 'failed';
    }
    return undefined;
  };
  /** Runs both for `SECONDS` seconds and counts the seconds in which the victim was refused. */
  const secondsRefused = (attack: (second: number) => void, victim: () => unknown) => {
    let refused = 0;
    for (let second = 0; second < SECONDS; second++) {
      attack(second);
      if (victim() !== undefined) refused += 1;
      clock.advance(1_000);
    }
    return refused;
  };
  return { ask, secondsRefused, signIns };
}

const times = (n: number, work: (i: number) => void) => {
  for (let i = 0; i < n; i++) work(i);
};

/** All 15,000 requests of a minute in its first second, and 100 a second from then on. */
const burst = (send: (i: number) => void) => (second: number) =>
  times(second % 60 === 0 ? 15_000 : 100, send);

describe('a caller whom others flood', () => {
  it('a paying agent is never rate-limited while five agents of one free account flood the server', () => {
    const { ask, secondsRefused } = world();
    const free = Array.from({ length: 5 }, (_, n) => agent(n + 1, 'acct_free'));
    const attack = burst((i) => ask(free[i % 5] ?? NOBODY, '203.0.113.1'));
    const paying = agent(9, 'acct_paying', true);
    expect(secondsRefused(attack, () => ask(paying, '198.51.100.1'))).toBe(0);
  });

  it('a free agent is never rate-limited while agents of another free account flood the server', () => {
    const { ask, secondsRefused } = world();
    const attack = burst((i) => ask(agent(1 + (i % 5), 'acct_free'), '203.0.113.1'));
    const other = agent(9, 'acct_other');
    expect(secondsRefused(attack, () => ask(other, '198.51.100.1'))).toBe(0);
  });

  it('an agent is never rate-limited while 200 free accounts of one network send from 200 networks', () => {
    const { ask, secondsRefused, signIns } = world();
    const accounts = Array.from({ length: 200 }, (_, n) => agent(n, `acct_${n}`));
    for (const { accountId } of accounts) signIns.note(accountId, '203.0.113.1');
    let passed = 0;
    const attack = () => {
      for (const [n, account] of accounts.entries()) {
        times(2, () => {
          if (ask(account, `192.0.2.${n}`) === undefined) passed += 1;
        });
      }
    };
    const other = agent(900, 'acct_other');
    const victim = () => {
      times(40, () => ask(other, '198.51.100.1'));
      return ask(other, '198.51.100.1');
    };
    expect(secondsRefused(attack, victim)).toBe(0);
    expect(passed).toBeLessThanOrEqual(2 * 12_000);
  });

  it('a client without a credential is never rate-limited while a thousand networks send their full share', () => {
    const { ask, secondsRefused } = world();
    const attack = () => times(1_000, (n) => ask(NOBODY, `192.0.${n >> 8}.${n & 255}`));
    expect(secondsRefused(attack, () => ask(NOBODY, '198.51.100.1'))).toBe(0);
  });
});
