import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reconciled } from '../../../src/payments/reconcile/reconcile.ts';
import { expectAgreement } from '../../support/chain/books.ts';
import {
  type LivePayment,
  openPayments,
  type Payer,
  seedPayers,
} from '../../support/chain/live-payments.ts';
import { type ReconcileWorld, startReconcileWorld } from '../../support/chain/reconcile-world.ts';

const AGENTS = 200;
const FUNDS_RAW = 1_000n;
const VALID_SECONDS = 600;
/**
 * Two hundred wallets are one question each way, each beside one that proves that the node knows the last block and one
 * for a log near it, which two questions have found before.
 */
const LOG_QUESTIONS = 8;
/** All of them in one call at one block. */
const STATES_PER_CALL = 500;

let world: ReconcileWorld;
let payers: readonly Payer[];
beforeAll(async () => {
  world = await startReconcileWorld();
  const { sql, chain, reader } = world;
  payers = await seedPayers({ sql, chain, ledger: reader.ledger }, AGENTS, FUNDS_RAW);
});
afterAll(() => world[Symbol.asyncDispose]());

/** Every other payment is taken, and the time of the others runs out. */
async function halfTaken(
  count: number,
): Promise<{ readonly taken: LivePayment[]; readonly lapsed: LivePayment[] }> {
  const { chain, reader, node } = world;
  const validBefore = (await chain.head()).timestamp + VALID_SECONDS;
  const payments = await openPayments(reader.ledger, payers, count, validBefore);
  const taken = payments.filter((_, i) => i % 2 === 0);
  await chain.submitMany(taken);
  await chain.travel(VALID_SECONDS);
  node.forget();
  return { taken, lapsed: payments.filter((_, i) => i % 2 === 1) };
}

const decidedBy = (ticks: readonly (Reconciled | 'busy')[]) =>
  ticks
    .filter((tick) => tick !== 'busy')
    .map(({ settled, released, left }) => ({ settled, released, left }));

const nonceDigits = ({ transfer }: LivePayment) => transfer.nonce.slice(2);

describe('two thousand payments that wait for the chain', () => {
  it('two thousand payments that wait for the chain are decided in one tick of one process, with a handful of node requests', async () => {
    const { taken, lapsed } = await halfTaken(2_000);
    const { sql, chain, reader, another, node } = world;
    const second = await another('second');
    const ticks = await Promise.all([reader.tick(), second.tick()]);
    expect(ticks).toContain('busy');
    expect(decidedBy(ticks)).toEqual([{ settled: taken.length, released: lapsed.length, left: 0 }]);

    expect(node.count('eth_getLogs')).toBe(LOG_QUESTIONS);
    const calls = node.calls.filter(({ method }) => method === 'eth_call');
    expect(calls).toHaveLength(Math.ceil(lapsed.length / STATES_PER_CALL));
    const asked = calls.map(({ params }) => JSON.stringify(params[0])).join();
    expect(taken.filter((payment) => asked.includes(nonceDigits(payment)))).toEqual([]);
    expect(lapsed.filter((payment) => !asked.includes(nonceDigits(payment)))).toEqual([]);
    await expectAgreement(sql, chain);

    node.forget();
    expect(decidedBy([await reader.tick()])).toEqual([{ settled: 0, released: 0, left: 0 }]);
    expect(node.count('eth_call') + node.count('eth_getLogs')).toBe(0);
  });

  it('two thousand payments are decided once each, even if a second process takes the chain over in the middle', async () => {
    const { taken, lapsed } = await halfTaken(1_000);
    const { sql, chain, reader, another } = world;
    const second = await another('heir');
    const first = reader.tick();
    // What a process that hangs looks like to the others, as soon as the first payment is decided.
    await expect
      .poll(
        async () =>
          (
            await sql`select 1 from reservations where decided_at > now() - interval
        '5 seconds' and nonce = any (${taken.map(({ transfer }) => transfer.nonce)}::text[])`
          ).length,
      )
      .toBeGreaterThan(0);
    await sql`update chain_cursors set claimed_until = now() - interval '1 second'`;
    const ticks = await Promise.all([first, second.tick()]);
    expect(ticks).not.toContain('busy');
    const rows = await sql<{ state: string; count: number }[]>`
      select state, count(*)::int as count from reservations
      where nonce = any (${[...taken, ...lapsed].map(({ transfer }) => transfer.nonce)}::text[])
      group by state order by state`;
    expect(rows).toEqual([
      { state: 'expired_unsettled', count: lapsed.length },
      { state: 'settled', count: taken.length },
    ]);
    await expectAgreement(sql, chain);
    expect(world.errors).toEqual([]);
  });
});
