import { expect, it } from 'vitest';
import type { Reserve, SessionClaim } from '../../../../src/ledger/rules/requests.ts';
import { limitReserve } from '../../../../src/phone/tools/limit-reserve.ts';

const claimOf = (amountRaw: bigint): SessionClaim => ({
  sessionId: 'call',
  epoch: 1,
  hold: {
    holdId: 'call',
    agentId: 1,
    amountRaw,
    facts: { keyRootId: null, taskId: null, host: null, payee: null },
  },
});

it('a limited reserve lends at most its limit, counts what is lent, and lends again what came back', async () => {
  let amountRaw = 100n;
  const whole: Reserve = {
    async use(work) {
      const used = await work(claimOf(amountRaw), amountRaw);
      if (used.claim !== undefined && used.claim !== 'lost') amountRaw = used.claim.hold.amountRaw;
      return used.result;
    },
  };
  const limited = limitReserve(whole, 30n);
  const move = (byRaw: bigint) =>
    limited.use(async (claim, lendableRaw) => ({
      result: lendableRaw,
      claim: claim && claimOf(claim.hold.amountRaw + byRaw),
    }));
  expect(await move(-20n)).toBe(30n);
  expect(await move(15n)).toBe(10n);
  expect(await move(0n)).toBe(25n);
  expect(amountRaw).toBe(95n);
});

it('a limited reserve lends no more than the reserve has', async () => {
  const small: Reserve = { use: async (work) => (await work(claimOf(5n), 5n)).result };
  const lendable = await limitReserve(small, 30n).use(async (_, lendableRaw) => ({
    result: lendableRaw,
    claim: undefined,
  }));
  expect(lendable).toBe(5n);
});
