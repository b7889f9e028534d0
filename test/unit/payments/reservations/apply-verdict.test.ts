import { describe, expect, it } from 'vitest';
import type { EventRow } from '../../../../src/ledger/rules/companion.ts';
import type { CorrectOperation } from '../../../../src/ledger/rules/operation.ts';
import {
  applyVerdict,
  type VerdictDeps,
} from '../../../../src/payments/reservations/apply-verdict.ts';
import { correctReleased } from '../../../../src/payments/reservations/correct-released.ts';
import { ERROR, logLines } from '../../../support/log-lines.ts';
import { PaymentBook } from '../../../support/payment-book.ts';

const EVENT: EventRow = {
  name: 'told',
  accountId: 'acct_1',
  agentWallet: null,
  correlationId: null,
  payload: {},
};

function world() {
  const book = new PaymentBook();
  const { log, lines } = logLines();
  const corrections: Omit<CorrectOperation, 'kind'>[] = [];
  const asked: string[] = [];
  const deps: VerdictDeps = {
    ledger: {
      ...book.ledger,
      correct: async (request) => {
        corrections.push(request);
        return book.ledger.correct(request);
      },
    },
    reload: book.reload,
    log,
    eventsOf: async ({ nonce }, txHash) => {
      asked.push(`${nonce} by ${txHash}`);
      return [EVENT];
    },
  };
  return { book, deps, lines, corrections, asked };
}

describe('the word of the chain', () => {
  it('a chain verdict "undecided" changes nothing of a payment', async () => {
    const { book, deps } = world();
    const row = await book.open('p');
    expect(await applyVerdict(deps, row, { kind: 'undecided' })).toBe(false);
    expect(book.row('p')).toEqual(row);
  });

  it('a chain verdict "used" settles a payment with its transaction and writes its events', async () => {
    const { book, deps, asked } = world();
    const row = await book.open('p');
    expect(await applyVerdict(deps, row, { kind: 'used', txHash: '0xaa' })).toBe(true);
    expect(book.row('p')).toMatchObject({ state: 'settled', txHash: '0xaa' });
    expect(asked).toEqual([`${row.nonce} by 0xaa`]);
    expect(book.store.events).toBe(1);
    expect(book.funds).toMatchObject({ spendableRaw: 990_000n, heldRaw: 0n, walletRaw: 990_000n });
  });

  it('a chain verdict "void" releases a payment, as rejected only where the vendor refused it', async () => {
    const { book, deps, asked } = world();
    const plain = await book.open('plain');
    const refused = { ...(await book.open('refused')), refused: true };
    expect(await applyVerdict(deps, plain, { kind: 'void' })).toBe(true);
    expect(await applyVerdict(deps, refused, { kind: 'void' })).toBe(true);
    expect([book.row('plain').state, book.row('refused').state]).toEqual([
      'expired_unsettled',
      'payment_rejected',
    ]);
    expect(book.funds).toMatchObject({ spendableRaw: 1_000_000n, heldRaw: 0n, promisedRaw: 0n });
    expect(asked).toEqual([]);
  });

  it('a chain verdict "used" debits a payment that another process has just released', async () => {
    const { book, deps, lines, corrections } = world();
    const row = await book.open('p');
    await book.end('p', 'expired_unsettled');
    await applyVerdict(deps, row, { kind: 'used', txHash: '0xaa' });
    expect(corrections).toHaveLength(1);
    expect(book.row('p')).toMatchObject({ state: 'expired_unsettled', isCorrected: true });
    expect(book.funds).toMatchObject({ spendableRaw: 990_000n, walletRaw: 990_000n });
    expect(lines.map(({ level }) => level)).toEqual([ERROR]);
  });

  it('a chain verdict "used" debits a payment once that another process has just settled', async () => {
    const { book, deps, corrections } = world();
    const row = await book.open('p');
    await book.end('p', 'settled');
    await applyVerdict(deps, row, { kind: 'used', txHash: '0xaa' });
    expect(corrections).toEqual([]);
    expect(book.funds).toMatchObject({ spendableRaw: 990_000n, walletRaw: 990_000n });
  });
});

describe('a payment that moved after its release', () => {
  it('a payment that moved after its release is debited once, keeps its state and is logged as an error', async () => {
    const { book, deps, lines } = world();
    await book.open('p');
    await book.end('p', 'expired_unsettled');
    const row = book.row('p');
    await correctReleased(deps, row, '0xbb');
    await correctReleased(deps, row, '0xbb');
    expect(book.row('p')).toMatchObject({
      state: 'expired_unsettled',
      isCorrected: true,
      txHash: '0xbb',
    });
    expect(book.funds).toMatchObject({ spendableRaw: 990_000n, heldRaw: 0n, walletRaw: 990_000n });
    expect(lines[0]).toMatchObject({ level: ERROR, nonce: row.nonce, txHash: '0xbb' });
    expect(book.store.violations()).toEqual([]);
  });

  it('a payment that moved after its release is debited only as far as the balance reaches', async () => {
    const { book, deps } = world();
    await book.open('p', { valueRaw: 600_000n });
    await book.end('p', 'expired_unsettled');
    await book.open('q', { valueRaw: 900_000n });
    await correctReleased(deps, book.row('p'), '0xbb');
    expect(book.funds).toMatchObject({ spendableRaw: 0n, walletRaw: 400_000n });
    expect(book.store.violations()).toEqual([]);
  });

  it('a payment of amount 0 that moved after its release is logged and debits nothing', async () => {
    const { book, deps, lines, corrections } = world();
    await book.open('p', { valueRaw: 0n });
    await book.end('p', 'expired_unsettled');
    await correctReleased(deps, book.row('p'), '0xbb');
    expect([lines.length, corrections.length]).toEqual([1, 0]);
  });
});
