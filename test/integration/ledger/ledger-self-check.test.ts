import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/rules/ledger.ts';
import { checkInvariants, type Violation } from '../../../src/ledger/store/check-invariants.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { seedAgents } from '../../support/ledger-world.ts';
import { moveOf, nonceOf, paidCharge, payoutOf, reservationOf } from '../../support/payments.ts';
import { DESTINATION, FACTS } from '../../support/spending.ts';

let db: TestDatabase;
let agentId = 0;
let otherId = 0;

beforeAll(async () => {
  db = await testDatabase(4);
  const [agent, other] = await seedAgents(db.sql, 2);
  if (agent === undefined || other === undefined) throw new Error('no agents');
  agentId = agent.agentId;
  otherId = other.agentId;
  const ledger = liveLedger(db.sql, 'a');
  await everyKindOfPayment(ledger, agent, '');
  await everyKindOfPayment(ledger, other, 'other ');
});
afterAll(() => db[Symbol.asyncDispose]());

/** One of each: undecided, settled, given back, late after that; a payout that is done and one that is not. */
async function everyKindOfPayment(
  ledger: Ledger,
  spender: { readonly agentId: number; readonly keyId: number },
  prefix: string,
): Promise<void> {
  const { agentId } = spender;
  const named = (name: string) => `${prefix}${name}`;
  const pay = (name: string, amountRaw: bigint) =>
    ledger.hold({
      spender,
      holdId: named(name),
      amountRaw,
      destination: DESTINATION,
      reservation: reservationOf(named(name)),
    });
  const end = (name: string, amountRaw: bigint, to: 'settled' | 'expired_unsettled') =>
    ledger.settle({
      hold: { holdId: named(name), agentId, amountRaw, facts: FACTS },
      actualRaw: to === 'settled' ? amountRaw : 0n,
      account: 'chain:usdc',
      source: 'x402',
      move: moveOf(named(name), 'reserved', to),
    });
  const deposit = { agentId, amountRaw: 100n, reference: named('deposit'), deposit: true };
  await ledger.credit(deposit);
  await ledger.credit({ agentId, amountRaw: 11n, reference: named('granted') });
  for (const [i, name] of ['live', 'settled', 'lapsed', 'late'].entries()) {
    await pay(name, BigInt(i + 3));
  }
  await end('settled', 4n, 'settled');
  await end('lapsed', 5n, 'expired_unsettled');
  await end('late', 6n, 'expired_unsettled');
  await ledger.correct({
    agentId,
    amountRaw: 6n,
    facts: FACTS,
    move: moveOf(named('late'), 'expired_unsettled', 'expired_unsettled'),
    charge: (chargedRaw) => paidCharge(agentId, chargedRaw),
  });
  await ledger.withdrawAll({ agentId, reference: named('close'), payout: payoutOf(named('done')) });
  const nonce = nonceOf(`payout ${named('done')}`);
  await ledger.paid({ agentId, nonce, amountRaw: 87n, txHash: '0xfe' });
  await ledger.credit({ ...deposit, amountRaw: 20n, reference: named('more') });
  await ledger.withdrawAll({ agentId, reference: named('again'), payout: payoutOf(named('open')) });
}

/** What is found in a ledger that this has broken; it is whole again afterwards. */
async function foundAfter(
  broken: (sql: Sql) => Promise<unknown>,
  range?: { readonly fromAgentId: number; readonly toAgentId: number },
): Promise<Violation[]> {
  let found: Violation[] = [];
  const whole = new Error('put back');
  const done = db.sql.begin(async (tx) => {
    const sql = tx as unknown as Sql;
    await broken(sql);
    found = await checkInvariants(sql, range);
    throw whole;
  });
  await expect(done).rejects.toBe(whole);
  return found;
}

const row = (name: string) => nonceOf(name);
type Break = readonly [string, (sql: Sql) => Promise<unknown>];

const BREAKS: readonly Break[] = [
  [
    'a wallet that holds more than came in',
    (sql) => sql`update agent_funds set wallet_raw = wallet_raw + 1 where agent_id = ${agentId}`,
  ],
  [
    'a promise without a payment or payout',
    (sql) =>
      sql`update agent_funds set promised_raw = promised_raw + 1 where agent_id = ${agentId}`,
  ],
  [
    'a payment of which less is promised than was signed',
    (sql) => sql`update reservations set value_raw = value_raw + 1 where nonce = ${row('live')}`,
  ],
  [
    'a payment that was settled and moved nothing',
    (sql) => sql`update reservations set state = 'settled', decided_at = now()
      where nonce = ${row('live')}`,
  ],
  [
    'an undecided payment whose hold was given back by its price',
    (sql) => sql`delete from holds where id = 'live'`,
  ],
  [
    'an undecided payment whose hold is another agent has',
    (sql) => sql`update holds set agent_id = ${otherId} where id = 'live'`,
  ],
  [
    'an undecided payment that is half held for',
    (sql) => sql`update holds set amount_raw = amount_raw - 1 where id = 'live'`,
  ],
  [
    'a payment that reads as undecided after its end',
    (sql) => sql`update reservations set state = 'sent', decided_at = null
      where nonce = ${row('settled')}`,
  ],
  [
    'a payment that was taken and reads as given back',
    (sql) => sql`update reservations set state = 'released' where nonce = ${row('settled')}`,
  ],
  [
    'a payment that was given back and reads as settled',
    (sql) => sql`update reservations set state = 'settled' where nonce = ${row('lapsed')}`,
  ],
  [
    'a late payment whose debit is forgotten',
    (sql) => sql`update reservations set corrected_at = null where nonce = ${row('late')}`,
  ],
  [
    'a payment that has ended at no time',
    (sql) => sql`update reservations set decided_at = null where nonce = ${row('lapsed')}`,
  ],
  [
    'a payment that is undecided since its end',
    (sql) => sql`update reservations set decided_at = now() where nonce = ${row('live')}`,
  ],
  [
    'a payment that is written nowhere any more',
    (sql) => sql`delete from reservations where nonce = ${row('settled')}`,
  ],
  [
    'a payout that is done and still in the wallet',
    (sql) => sql`update payouts set state = 'done' where nonce = ${row('payout open')}`,
  ],
  [
    'a payout that is under way and not in the wallet any more',
    (sql) => sql`update payouts set state = 'submitted' where nonce = ${row('payout done')}`,
  ],
  [
    'a payout of another amount',
    (sql) =>
      sql`update payouts set amount_raw = amount_raw - 1 where nonce = ${row('payout open')}`,
  ],
  [
    'a grant that is booked as a deposit',
    (sql) => sql`update postings set code = 'funding.deposit' where id = 'credit:granted'`,
  ],
  [
    'a deposit of another amount',
    (sql) => sql`update postings set amounts = '{21}' where id = 'credit:more'`,
  ],
];

describe('the self-check of payments', () => {
  it('the ledger’s self-check finds nothing with payments in every state', async () => {
    const states = await db.sql`select state, corrected_at is not null as late from reservations
      where agent_id = ${agentId} order by value_raw`;
    expect(states).toMatchObject([
      { state: 'reserved', late: false },
      { state: 'settled', late: false },
      { state: 'expired_unsettled', late: false },
      { state: 'expired_unsettled', late: true },
    ]);
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it.each(BREAKS)('the ledger’s self-check finds %s, and names its agent', async (_, broken) => {
    const found = await foundAfter(broken);
    const ours = found.filter(({ invariant }) => invariant === 8);
    expect(ours.length).toBeGreaterThan(0);
    expect(new Set(ours.map((violation) => violation.agentId))).toEqual(new Set([agentId]));
  });

  it('the ledger’s self-check checks only the agents that it is given', async () => {
    const broken = (sql: Sql) => sql`update agent_funds set wallet_raw = wallet_raw + 1`;
    const only = { fromAgentId: otherId, toAgentId: otherId };
    expect(await foundAfter(broken, only)).toMatchObject([{ invariant: 8, agentId: otherId }]);
    const noAgent = { fromAgentId: otherId + 1, toAgentId: otherId + 100 };
    expect(await foundAfter(broken, noAgent)).toEqual([]);
  });

  it('the ledger’s self-check reports at most 101 violations of a kind', async () => {
    const found = await foundAfter(async (sql) => {
      await sql`insert into reservations (nonce, hold_id, agent_id, wallet, payee, value_raw, valid_before,
          signature, x402_version, network, target_url, target_host, method)
        select 'nonce ' || n, 'hold ' || n, ${agentId}, 'w', 'p', 1, 1, 's', 1, 'base', 'u', 'h', 'GET'
        from generate_series(1, 300) as n`;
    });
    expect(found.filter(({ invariant }) => invariant === 8)).toHaveLength(101);
  });
});
