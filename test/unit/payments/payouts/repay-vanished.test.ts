import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import type { PastPayout } from '../../../../src/payments/payouts/payout.ts';
import { repayVanished } from '../../../../src/payments/payouts/repay-vanished.ts';
import type { Rpc } from '../../../../src/platform/chain/rpc.ts';
import type { Block } from '../../../../src/platform/chain/rpc-answers.ts';
import { word } from '../../../support/fakes/json-rpc-node.ts';

const AT: Block = { number: 5, hash: word(5), timestampSec: 1_000 };
const payout = (n: number): PastPayout => ({
  nonce: word(n),
  agentId: n,
  accountId: 'acct_1',
  kind: 'close',
  amountRaw: 500n,
  wallet: `0x${'a1'.repeat(20)}`,
  payee: `0x${'de'.repeat(20)}`,
  attempts: 1,
  createdMs: 0,
});

/** A chain without a multicall contract, on which these nonces are used. */
function setUp(used: readonly number[], done: readonly PastPayout[]) {
  const again: string[] = [];
  let asked = 0;
  const rpc: Pick<Rpc, 'call'> = {
    async call({ data }, at) {
      expect(at).toMatchObject({ hash: AT.hash });
      asked++;
      if (!data.startsWith('0xe94a0102')) return '0x';
      return used.some((n) => data.endsWith(word(n).slice(2))) ? word(1) : word(0);
    },
  };
  const repay = () =>
    repayVanished(
      {
        view: { rpc: rpc as Rpc, usdc: `0x${'cc'.repeat(20)}` },
        payouts: { payAgain: async ({ nonce }) => void again.push(nonce) },
        findDone: async () => done,
        log: silentLog,
      },
      AT,
    );
  return { again, repay, asked: () => asked };
}

describe('payouts after a reorganisation', () => {
  it('payouts that a reorganisation removed are handed over again and counted', async () => {
    const { again, repay } = setUp([1, 3], [payout(1), payout(2), payout(3)]);
    expect(await repay()).toBe(1);
    expect(again).toEqual([word(2)]);
  });

  it('a payout that stands on the new branch too is not handed over again', async () => {
    const { again, repay } = setUp([1], [payout(1)]);
    expect([await repay(), again]).toEqual([0, []]);
  });

  it('a reorganisation without payouts costs no request to the chain', async () => {
    const { repay, asked } = setUp([], []);
    expect([await repay(), asked()]).toEqual([0, 0]);
  });
});
