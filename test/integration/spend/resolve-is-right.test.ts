import fc from 'fast-check';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { bumpRules } from '../../../src/ledger/store/agent-funds.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { createAwareness } from '../../../src/spend/awareness/awareness.ts';
import { refuseSpend } from '../../../src/spend/limits/refuse-spend.ts';
import { createSpendStateReader } from '../../../src/spend/limits/spend-state.ts';
import { testDatabase } from '../../support/database.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { seedAgents } from '../../support/ledger-world.ts';
import { arbitraryCap, insertPolicy } from '../../support/policy-arbitrary.ts';

const RUNS = 40;
const PAYEES = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`] as const;

/** What is asked for and then tried, and what of it the work costs in the end; null: it goes on. */
const arbitraryPayment = fc.record({
  amountRaw: fc.bigInt({ min: 0n, max: 40n }),
  host: fc.constantFrom('acme.test', 'api.acme.test', 'other.test'),
  recipient: fc.constantFrom(...PAYEES),
  taskId: fc.constantFrom(null, 't1', 't2'),
  who: fc.constantFrom(0, 1),
  costRaw: fc.option(fc.bigInt({ min: 0n, max: 40n })),
});

/** A pending payment is judged exactly as it is decided, whatever was spent before it. */
it('the decision of a spend resolve equals the outcome of the hold, for own and shared caps as they fill up', async () => {
  await using db = await testDatabase();
  const { sql } = db;
  await using ledger = liveLedger(sql, 'resolved');
  const awareness = createAwareness({
    sql,
    spendState: createSpendStateReader({
      sql,
      ledger,
      now: systemClock.now,
      retrying: (call) => call(),
    }),
  });
  const seen = { approve: 0, decline: 0 };
  // Nothing takes effect, or ends, while the test runs.
  const lasting = { effectiveFromSec: null, expiresAtSec: null };
  const cap = arbitraryCap(0).map((x) => ({ ...x, ...lasting }));
  let n = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(cap, { maxLength: 3 }),
      fc.array(cap, { maxLength: 3 }),
      fc.array(arbitraryPayment, { minLength: 4, maxLength: 10 }),
      async (own, team, payments) => {
        const agents = await seedAgents(sql, 2);
        const [account] = await sql<{ id: string }[]>`
          select account_id as id from agents where id = ${agents[0]?.agentId ?? 0}`;
        const accountId = account?.id ?? '';
        // An agent has at most one limit of its session.
        const first = own.findIndex(({ kind }) => kind === 'session');
        for (const one of own.filter(({ kind }, i) => kind !== 'session' || i === first)) {
          await insertPolicy(sql, { accountId, agentId: agents[0]?.agentId ?? 0 }, one);
        }
        for (const one of team) {
          await insertPolicy(sql, { accountId, agentId: null }, { ...one, reserves: false });
        }
        for (const { agentId } of agents) {
          await ledger.credit({ agentId, amountRaw: 120n, reference: `start ${agentId}` });
        }
        for (const { who, costRaw, taskId, host, recipient, amountRaw } of payments) {
          const { agentId, keyId } = agents[who] ?? { agentId: 0, keyId: 0 };
          const question = { host, recipient, amountRaw, taskId, keyId };
          const told = await awareness.resolve(accountId, agentId, question);
          seen[told.decision]++;
          const verdict = await ledger.hold({
            spender: { agentId, keyId, ...(taskId !== null && { taskId }) },
            holdId: `h${++n}`,
            amountRaw,
            destination: { host, payee: recipient },
          });
          expect(verdict.kind).toBe(told.decision === 'approve' ? 'held' : 'refused');
          if (verdict.kind === 'refused' && told.decision === 'decline') {
            const { error, fields } = refuseSpend(verdict.refusal);
            // Asking stops no agent, trying does.
            const { auto_suspended: _, ...rest } = fields;
            expect(told.decline).toEqual({ error, ...rest });
            if (verdict.refusal.reason === 'cap_exceeded' && verdict.refusal.suspended) {
              await sql`update agents set status = 'active', suspended_reason = null
                where id = ${agentId}`;
              await bumpRules(sql, agentId);
            }
          }
          if (verdict.kind !== 'held' || costRaw === null) continue;
          const { hold } = verdict;
          await ledger.settle({ hold, actualRaw: costRaw, account: 'chain:usdc', source: 's' });
        }
      },
    ),
    { numRuns: RUNS },
  );
  expect(Math.min(seen.approve, seen.decline), JSON.stringify(seen)).toBeGreaterThan(RUNS / 2);
  expect(await checkInvariants(sql)).toEqual([]);
});
