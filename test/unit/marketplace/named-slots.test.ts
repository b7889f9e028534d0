import { expect, it } from 'vitest';
import { createNamedSlots } from '../../../src/marketplace/named-slots.ts';

const BOUNDS = { inAll: 5, perAccount: 3, perAgent: 2 };

it.each([
  [
    'an agent',
    BOUNDS.perAgent,
    () => ({ agentId: 1, accountId: 'a' }),
    'acme',
    /^This agent has 2/,
  ],
  [
    'an account, over all its agents and names',
    BOUNDS.perAccount,
    (n: number) => ({ agentId: n, accountId: 'a' }),
    undefined,
    /of this account have 3/,
  ],
  [
    'everybody under one name',
    BOUNDS.inAll,
    (n: number) => ({ agentId: n, accountId: `a${n}` }),
    'acme',
    /^Too many such calls/,
  ],
])(
  '%s has a limited number of slots, and all of them again when its calls have ended',
  async (_, most, guest, name, message) => {
    const room = createNamedSlots(BOUNDS);
    const ends: (() => void)[] = [];
    const enter = (n: number) =>
      room(
        name ?? `vendor ${n}`,
        guest(n),
        () => new Promise<void>((resolve) => ends.push(resolve)),
      );
    for (let round = 0; round < 2; round++) {
      const under = Array.from({ length: most }, (__, n) => enter(n));
      await expect(enter(most)).rejects.toMatchObject({
        status: 503,
        error: 'vendor_unavailable',
        fields: { message: expect.stringMatching(message) },
        headers: { 'retry-after': '1', 'x-should-retry': 'true' },
      });
      for (const end of ends.splice(0)) end();
      await Promise.all(under);
    }
  },
);

it('an account that fills its slots leaves slots for other accounts', async () => {
  const room = createNamedSlots(BOUNDS);
  const never = () => new Promise<void>(() => {});
  for (let n = 0; n < BOUNDS.perAccount; n++)
    void room('acme', { agentId: n, accountId: 'a' }, never);
  expect(await room('acme', { agentId: 9, accountId: 'b' }, async () => 'in')).toBe('in');
});
