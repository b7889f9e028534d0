import { describe, expect, it } from 'vitest';
import { settlementEvents } from '../../../../src/payments/reservations/settlement-events.ts';
import type { Queryable } from '../../../../src/platform/postgres/sql.ts';
import { PaymentBook } from '../../../support/payment-book.ts';

/** A database that knows whose the agent is, and whether it has paid before. */
const paidBy = (payer: { accountId: string; isFirst: boolean } | undefined) =>
  (async () => (payer === undefined ? [] : [payer])) as unknown as Queryable;

describe('the events of a settled payment', () => {
  it('a settled payment writes an event, and the first payment of an agent a second one', async () => {
    const row = await new PaymentBook().open('p', { targetUrl: 'https://vendor.test/p?q=1' });
    const { agentId, nonce, wallet } = row;
    const about = { accountId: 'acct_1', agentWallet: wallet, correlationId: nonce };
    const payload = {
      agentId,
      url: 'https://vendor.test/p?q=1',
      amountRaw: '10000',
      txHash: '0xaa',
    };
    const first = await settlementEvents(
      paidBy({ accountId: 'acct_1', isFirst: true }),
      row,
      '0xaa',
    );
    expect(first).toMatchObject([
      { ...about, name: 'x402.first_settlement', payload },
      { ...about, name: 'marketplace.payment.settled', payload: { ...payload, rail: 'x402' } },
    ]);
    const later = await settlementEvents(
      paidBy({ accountId: 'acct_1', isFirst: false }),
      row,
      '0xaa',
    );
    expect(later).toEqual([first[1]]);
  });

  it('a settled payment of an agent that is gone writes no events', async () => {
    const row = await new PaymentBook().open('p');
    expect(await settlementEvents(paidBy(undefined), row, '0xaa')).toEqual([]);
  });
});
