import { expect, it, onTestFinished } from 'vitest';
import type { Ledger } from '../../../src/ledger/rules/ledger.ts';
import { BY_KEY, openSql, type Sql } from '../../../src/platform/postgres/sql.ts';
import { testDatabase } from '../../support/database.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { seedAgent } from '../../support/ledger-world.ts';
import { moveOf, reservationOf } from '../../support/payments.ts';
import { rowsReadBy } from '../../support/rows-read.ts';
import { DESTINATION, FACTS } from '../../support/spending.ts';

const WAITING = 200;
const TABLES = ['reservations', 'sessions', 'session_journal', 'holds', 'postings', 'payouts'];
/** A row or two of each table for every operation; never one for each that waits. */
const MOST_ROWS = 30;

it('a step of a payment or a session reads its own rows alone, however many others are open', async () => {
  await using db = await testDatabase();
  const agent = await seedAgent(db.sql);
  const { agentId } = agent;
  // As the server opens it for its ledger.
  const sql = openSql(db.target, 4, BY_KEY);
  onTestFinished(() => sql.end({ timeout: 1 }));
  await using ledger = liveLedger(sql, 'a');
  await ledger.credit({ agentId, amountRaw: 10_000n, reference: 'd', deposit: true });
  const pay = (by: Ledger, holdId: string) =>
    by.hold({
      spender: agent,
      holdId,
      amountRaw: 3n,
      destination: DESTINATION,
      reservation: reservationOf(holdId),
    });
  const open = (by: Ledger, sessionId: string) =>
    by.openSession({
      spender: agent,
      sessionId,
      reserveRaw: 3n,
      kind: 'realtime',
      target: 'gateway://a/b',
      model: 'b',
      destination: DESTINATION,
      account: 'gateway',
    });
  const names = Array.from({ length: WAITING }, (_, i) => `${i}`);
  await Promise.all(names.flatMap((name) => [pay(ledger, `p${name}`), open(ledger, `s${name}`)]));
  // Plans are made once a connection and kept: those of a database in use must not differ.
  const read = await rowsReadBy(sql, TABLES, async (tx) => {
    await using inside = liveLedger(tx as Sql, 'a');
    await pay(inside, 'own');
    await inside.advance({ agentId, holdId: 'own', move: moveOf('own', 'reserved', 'sent') });
    const opened = await open(inside, 'own session');
    if (opened.kind !== 'opened') throw new Error('no session');
    const entry = { seq: 1, costRaw: 1n, usage: {} };
    expect(await inside.journal(opened.claim, [entry])).toBe('written');
    const ended = await inside.settle({
      hold: { holdId: 'own', agentId, amountRaw: 3n, facts: FACTS },
      actualRaw: 3n,
      account: 'chain:usdc',
      source: 'x402',
      move: moveOf('own', 'sent', 'settled'),
    });
    expect(ended.kind).toBe('settled');
  });
  expect(read).toBeLessThan(MOST_ROWS);
});
