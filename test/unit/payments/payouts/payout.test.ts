import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { newPayout } from '../../../../src/payments/payouts/payout.ts';

describe('a new payout', () => {
  const parties = { wallet: `0x${'A1'.repeat(20)}`, payee: `0x${'De'.repeat(20)}` };

  it('a new payout has a random 32-byte nonce of its own', () => {
    const nonces = Array.from(
      { length: 50 },
      () => newPayout(systemRandom, 'close', parties).nonce,
    );
    for (const nonce of nonces) expect(nonce).toMatch(/^0x[0-9a-f]{64}$/);
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  it('a new payout spells its wallet and payee addresses in lower case', () => {
    const { wallet, payee, kind } = newPayout(systemRandom, 'sweep', parties);
    expect({ wallet, payee, kind }).toEqual({
      wallet: `0x${'a1'.repeat(20)}`,
      payee: `0x${'de'.repeat(20)}`,
      kind: 'sweep',
    });
  });
});
