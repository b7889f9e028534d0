import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import type { ClaimedPayout } from '../../../../src/payments/payouts/payout.ts';
import { createPayouts } from '../../../../src/payments/payouts/payouts.ts';
import { usdcDomain } from '../../../../src/x402/authorization.ts';
import { word } from '../../../support/fakes/json-rpc-node.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const payout = (n: number): ClaimedPayout => ({
  nonce: word(n),
  agentId: n,
  accountId: 'acct_1',
  kind: 'close',
  amountRaw: 500n,
  wallet: `0x${'a1'.repeat(20)}`,
  payee: `0x${'de'.repeat(20)}`,
  attempts: 1,
  createdMs: 0,
  validBefore: 9_999,
});

type Wish = {
  readonly sender?: 'none';
  readonly due?: readonly ClaimedPayout[];
  readonly claiming?: Error;
  /** What is handed over waits for it. */
  readonly until?: Promise<void>;
};

function setUp(wanted: Wish = {}) {
  const clock = new ManualClock();
  const seen = {
    claims: [] as { validBefore: number; agentId: number | undefined }[],
    written: [] as string[],
    logged: [] as { level: number }[],
    isOpen: true,
  };
  const payouts = createPayouts({
    clock,
    domain: usdcDomain(`0x${'cc'.repeat(20)}`),
    judge: { ask: async () => ({ kind: 'undecided' }) },
    ledger: { paid: async () => {} },
    log: pino(
      { base: null, level: 'warn' },
      { write: (line) => seen.logged.push(JSON.parse(line)) },
    ),
    sender:
      wanted.sender === 'none'
        ? undefined
        : {
            wallets: { signTransfer: async () => '0x5a' },
            facilitator: {
              async submitTransfer() {
                await wanted.until;
                return word(77);
              },
            },
          },
    async claim(validBefore, agentId) {
      seen.claims.push({ validBefore, agentId });
      if (wanted.claiming !== undefined) throw wanted.claiming;
      return wanted.due ?? [];
    },
    async submitted(nonce) {
      seen.written.push(nonce);
    },
    hasOpen: async () => seen.isOpen,
  });
  return { clock, payouts, seen };
}

describe('payouts', () => {
  it('every due payout is handed over, signed for `payoutValidSeconds`', async () => {
    const { clock, payouts, seen } = setUp({ due: [payout(1), payout(2)] });
    await payouts.payDue();
    expect(seen.written).toEqual([word(1), word(2)]);
    const validBefore = clock.now() / 1_000 + PAYMENT_LIMITS.payout.validSeconds;
    expect(seen.claims).toEqual([{ validBefore, agentId: undefined }]);
  });

  it('payouts without a signer or submitter are not claimed, which is logged once and only while one waits', async () => {
    const { payouts, seen } = setUp({ sender: 'none' });
    seen.isOpen = false;
    await payouts.payDue();
    expect(seen.logged).toEqual([]);
    seen.isOpen = true;
    await Promise.all([payouts.payDue(), payouts.payNow(7)]);
    await payouts.payDue();
    expect(seen.logged).toHaveLength(1);
    expect(seen.claims).toEqual([]);
  });

  it('payNow hands over the due payout of one agent without waiting for the worker', async () => {
    const { payouts, seen } = setUp({ due: [payout(7)] });
    await payouts.payNow(7);
    expect(seen.claims).toMatchObject([{ agentId: 7 }]);
    expect(seen.written).toEqual([word(7)]);
  });

  it('closing an agent waits up to `closePayoutMs` for its payout, which goes on and is awaited at disposal', async () => {
    let reach = () => {};
    const until = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const { clock, payouts, seen } = setUp({ due: [payout(7)], until });
    const hurried = payouts.payNow(7);
    clock.advance(PAYMENT_LIMITS.payout.closeMs);
    await hurried;
    expect(seen.written).toEqual([]);
    let isOver = false;
    const over = payouts[Symbol.asyncDispose]().then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    reach();
    await over;
    expect(seen.written).toEqual([word(7)]);
  });

  it('a database that is away fails the payout worker’s pass, but not the closing of an agent', async () => {
    const { payouts, seen } = setUp({ claiming: new Error('away') });
    await expect(payouts.payDue()).rejects.toThrow('away');
    await payouts.payNow(7);
    expect(seen.logged).toHaveLength(1);
  });

  it('a payout that left the chain is submitted again where there is a signer', async () => {
    const { payouts, seen } = setUp();
    await payouts.payAgain(payout(3));
    expect(seen.written).toEqual([word(3)]);
    const without = setUp({ sender: 'none' });
    await without.payouts.payAgain(payout(3));
    expect(without.seen.written).toEqual([]);
  });
});
