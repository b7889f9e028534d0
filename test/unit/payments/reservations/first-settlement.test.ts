import { describe, expect, it } from 'vitest';
import { firstSettlement } from '../../../../src/payments/reservations/first-settlement.ts';
import type { Queryable } from '../../../../src/platform/postgres/sql.ts';
import { PaymentBook } from '../../../support/payment-book.ts';

/** A database that knows whose the agent is, as long as none of its payments is settled. */
const ownedBy = (accountId: string | undefined) =>
  (async () =>
    accountId === undefined ? [] : [{ account_id: accountId }]) as unknown as Queryable;

describe('what is told of a settled payment', () => {
  it('is, of an agent’s first one, that it has paid: what, whom and how', async () => {
    const row = await new PaymentBook().open('p', { targetUrl: 'https://vendor.test/p?q=1' });
    const { agentId, wallet, nonce } = row;
    expect(await firstSettlement(ownedBy('acct_1'), row, '0xaa')).toMatchObject([
      {
        ...{ name: 'x402.first_settlement', accountId: 'acct_1', agentWallet: wallet },
        correlationId: nonce,
        payload: {
          ...{ agentId, url: 'https://vendor.test/p?q=1', amountRaw: '10000', txHash: '0xaa' },
        },
      },
    ]);
  });

  it('is nothing of any other', async () => {
    const row = await new PaymentBook().open('p');
    expect(await firstSettlement(ownedBy(undefined), row, '0xaa')).toEqual([]);
  });
});
