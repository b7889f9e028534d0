import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../../src/ledger/rules/change.ts';
import type { Ledger } from '../../../src/ledger/rules/ledger.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { arbitraryOperation } from '../../support/batch-arbitrary.ts';
import { arbitraryBatches, playBatches } from '../../support/batch-world.ts';
import { testDatabase } from '../../support/database.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { seedAgent, seedAgents } from '../../support/ledger-world.ts';
import { arbitraryPayment } from '../../support/payment-arbitrary.ts';
import { moveOf, reservationOf } from '../../support/payments.ts';
import { DESTINATION, FACTS } from '../../support/spending.ts';

const AGENTS = 3;
const RUNS = 120;
const MORE = 3;
const NO_CAPS = { own: [], teams: [] };

/** What an operation would do, in a word: where it leaves a payment, or what it takes out of the wallet. */
function stepOf({ companions, posting }: Change): string {
  for (const companion of companions) {
    if (companion.row === 'reservation.opened') return 'reserved';
    if (companion.row === 'reservation.moved') {
      return companion.corrected ? 'corrected' : companion.move.to;
    }
    if (companion.row === 'payout.planned') return companion.payout.kind;
    if (companion.row === 'payout.done') return 'paid';
  }
  return posting?.code ?? 'nothing';
}

const STEPS = ['sent', 'pending_settlement'];
const ENDS = ['settled', 'expired_unsettled', 'payment_rejected', 'released', 'corrected'];
const WALLET = ['close', 'sweep', 'paid'];

const ALL = [
  ...['reserved', ...STEPS, ...ENDS, ...WALLET].map((step) => `applied: ${step}`),
  ...[...STEPS, ...ENDS].map((step) => `lost: ${step}`),
  ...['reserved', 'corrected', 'close', 'paid'].map((step) => `already: ${step}`),
  ...['reserved', 'corrected', 'paid'].map((step) => `conflict: ${step}`),
];

describe('payments in the database', () => {
  it('payments in the database behave as in their model in any batch, and keep the ledger’s invariants', async () => {
    await using db = await testDatabase();
    const agents = (await seedAgents(db.sql, AGENTS)).map(({ agentId }) => agentId);
    const knows = fc.constantFrom(true, true, true, true, false);
    const drawn = fc.oneof(
      { weight: 2, arbitrary: fc.record({ operation: arbitraryPayment(AGENTS), knows }) },
      { weight: 1, arbitrary: arbitraryOperation(AGENTS) },
    );
    const batches = arbitraryBatches(AGENTS, drawn, { operations: 2, batches: 8 });
    const met = new Set<string>();
    let runs = 0;
    const play = (forMs: number) =>
      fc.assert(
        fc.asyncProperty(batches, async (sent) => {
          runs++;
          for (const { change, verdict } of await playBatches(db.sql, agents, NO_CAPS, sent)) {
            met.add(`${verdict}: ${stepOf(change)}`);
          }
        }),
        { numRuns: RUNS, interruptAfterTimeLimit: forMs },
      );
    const missing = () => ALL.filter((what) => !met.has(what));
    await play(40_000);
    // A slow machine has met less.
    if (runs < RUNS) return;
    // Some seeds in hundreds leave out what is rare: nothing is left out again and again.
    for (let more = 0; more < MORE && missing().length > 0; more++) await play(20_000);
    expect(missing()).toEqual([]);
  }, 120_000);

  it('conflicting steps of one payment from two processes are decided once', async () => {
    await using db = await testDatabase();
    const { sql } = db;
    const { agentId, keyId } = await seedAgent(sql);
    const [here, there] = [liveLedger(sql, 'here'), liveLedger(sql, 'there')];
    await here.credit({ agentId, amountRaw: 100n, reference: 'd', deposit: true });
    const names = Array.from({ length: 30 }, (_, i) => `h${i}`);
    const pay = (ledger: Ledger, holdId: string) =>
      ledger.hold({
        spender: { agentId, keyId },
        holdId,
        amountRaw: 3n,
        destination: DESTINATION,
        reservation: reservationOf(holdId),
      });
    await Promise.all(names.map((name, i) => pay(i % 2 === 0 ? here : there, name)));
    const step = (ledger: Ledger, name: string, to: 'sent' | 'pending_settlement') =>
      ledger.advance({ agentId, holdId: name, move: moveOf(name, 'reserved', to) });
    const steps = await Promise.all(
      names.map((name) =>
        Promise.all([step(here, name, 'sent'), step(there, name, 'pending_settlement')]),
      ),
    );
    expect(steps.map((pair) => pair.filter((said) => said === 'moved').length)).toEqual(
      names.map(() => 1),
    );
    const end = async (ledger: Ledger, name: string, to: 'settled' | 'expired_unsettled') => {
      const [row] = await sql<{ state: 'sent' | 'pending_settlement' }[]>`
        select state from reservations where hold_id = ${name}`;
      return ledger.settle({
        hold: { holdId: name, agentId, amountRaw: 3n, facts: FACTS },
        actualRaw: to === 'settled' ? 3n : 0n,
        account: 'chain:usdc',
        source: 'x402',
        move: moveOf(name, row?.state ?? 'reserved', to),
      });
    };
    const ends = await Promise.all(
      names.map((name) =>
        Promise.all([end(here, name, 'settled'), end(there, name, 'expired_unsettled')]),
      ),
    );
    const kinds = ends.map((pair) =>
      pair
        .map(({ kind }) => kind)
        .sort()
        .join(),
    );
    expect(new Set(kinds)).toEqual(new Set(['already_resolved,settled']));
    const [row] = await sql<{ settled: number; spent: bigint; wallet: bigint; promised: bigint }[]>`
      select (select count(*)::int from reservations where state = 'settled') as settled,
        consumed_raw as spent, wallet_raw as wallet, promised_raw as promised
      from agent_funds where agent_id = ${agentId}`;
    const spent = BigInt(row?.settled ?? 0) * 3n;
    expect(row).toMatchObject({ spent, wallet: 100n - spent, promised: 0n });
    expect(await checkInvariants(sql)).toEqual([]);
  });
});
