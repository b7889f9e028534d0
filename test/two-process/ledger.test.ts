import { describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { testDatabase } from '../support/database.ts';
import { liveLedger } from '../support/ledger-load.ts';
import { ledgerProcess } from '../support/ledger-process.ts';
import { seedAgent } from '../support/ledger-world.ts';

/** Two processes need a server that both can reach by URL; without one this fails rather than passes. */
async function world() {
  const db = await testDatabase();
  if (db.target.kind !== 'url') throw new Error('set TEST_DATABASE_URL for the two-process tests');
  const { target } = db;
  const agent = await seedAgent(db.sql);
  const processes = await Promise.all([ledgerProcess(target, 'a'), ledgerProcess(target, 'b')]);
  const credit = async (amountRaw: bigint) => {
    await using ledger = liveLedger(db.sql, 'parent');
    await ledger.credit({ agentId: agent.agentId, amountRaw, reference: 'start' });
  };
  return {
    db,
    agent,
    processes,
    credit,
    async [Symbol.asyncDispose]() {
      await Promise.all(processes.map((process) => process[Symbol.asyncDispose]()));
      await db[Symbol.asyncDispose]();
    },
  };
}

describe('two processes on one agent', () => {
  it('two processes let exactly 100 of 200 concurrent holds of one agent through when 100 fit', async () => {
    await using w = await world();
    await w.credit(100n);
    const answers = await Promise.all(
      w.processes.map((process, i) =>
        process.run({ kind: 'race', agent: w.agent, holds: 100, prefix: `p${i}` }),
      ),
    );
    const held = answers.map((answer) => (answer.kind === 'raced' ? answer.held : 0));
    expect(held.reduce((a, b) => a + b)).toBe(100);
    expect(await checkInvariants(w.db.sql)).toEqual([]);
  });

  it('two processes on one agent miss the fence of an operation at most three times and starve no caller', async () => {
    await using w = await world();
    await w.credit(1_000_000n);
    const answers = await Promise.all(
      w.processes.map((process, i) =>
        process.run({
          kind: 'load',
          agents: [w.agent],
          callers: 64,
          forMs: 2_000,
          prefix: `p${i}`,
        }),
      ),
    );
    for (const answer of answers) {
      if (answer.kind !== 'loaded') throw new Error('no answer');
      expect(answer.mostMisses).toBeLessThanOrEqual(3);
      expect(answer.operations).toBeGreaterThan(100);
    }
    expect(await checkInvariants(w.db.sql)).toEqual([]);
  });
});
