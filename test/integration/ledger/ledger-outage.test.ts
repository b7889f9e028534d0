import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { createLedger } from '../../../src/ledger/engine/ledger.ts';
import { createBalanceStore } from '../../../src/ledger/store/balances.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { openSql } from '../../../src/platform/postgres/sql.ts';
import { cutProxy } from '../../support/cut-proxy.ts';
import { testDatabase } from '../../support/database.ts';
import { seedAgent } from '../../support/ledger-world.ts';
import { moveOf, reservationOf } from '../../support/payments.ts';
import { DESTINATION, FACTS } from '../../support/spending.ts';

const NODE = { nodeId: 'node_a', leaseEpoch: 1 };

async function world() {
  const db = await testDatabase();
  const proxy = await cutProxy(db.target);
  const through = openSql(proxy.target, 2);
  const agent = await seedAgent(db.sql);
  const ledger = createLedger({
    store: createBalanceStore({ sql: through, node: NODE }),
    clock: systemClock,
    log: silentLog,
  });
  const { agentId, keyId } = agent;
  await ledger.credit({ agentId, amountRaw: 1_000n, reference: 'start' });
  const hold = (holdId: string) =>
    ledger.hold({ spender: { agentId, keyId }, holdId, amountRaw: 10n, destination: DESTINATION });
  return {
    sql: db.sql,
    proxy,
    ledger,
    hold,
    agentId,
    keyId,
    async [Symbol.asyncDispose]() {
      await ledger[Symbol.asyncDispose]();
      await through.end({ timeout: 1 });
      await proxy[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}

describe('a connection that is lost', () => {
  it('the ledger moves money once when an operation was carried out and its response was lost', async () => {
    await using w = await world();
    for (let round = 0; round < 5; round++) {
      w.proxy.loseNextAnswer();
      const verdicts = await Promise.all([w.hold(`a${round}`), w.hold(`b${round}`)]);
      expect(verdicts.map((verdict) => verdict.kind)).toEqual(['held', 'held']);
      expect(w.proxy.cuts).toBe(round + 1);
    }
    expect(w.ledger.counters.resends).toBeGreaterThan(0);
    expect(await w.ledger.funds(w.agentId)).toMatchObject({ spendableRaw: 900n, heldRaw: 100n });
    expect(await checkInvariants(w.sql)).toEqual([]);
  });

  it('the ledger takes each step of a payment once when every response is lost', async () => {
    await using w = await world();
    const { ledger, agentId, keyId } = w;
    const lost = <T>(work: () => Promise<T>): Promise<T> => {
      w.proxy.loseNextAnswer();
      return work();
    };
    await ledger.credit({ agentId, amountRaw: 50n, reference: 'deposit', deposit: true });
    const request = { holdId: 'h', amountRaw: 10n, destination: DESTINATION };
    const spender = { agentId, keyId };
    const held = await lost(() =>
      ledger.hold({ ...request, spender, reservation: reservationOf('h') }),
    );
    expect(held.kind).toBe('held');
    const sent = moveOf('h', 'reserved', 'sent');
    expect(await lost(() => ledger.advance({ agentId, holdId: 'h', move: sent }))).toBe('moved');
    const settled = await lost(() =>
      ledger.settle({
        hold: { holdId: 'h', agentId, amountRaw: 10n, facts: FACTS },
        actualRaw: 10n,
        account: 'chain:usdc',
        source: 'x402',
        move: moveOf('h', 'sent', 'settled'),
      }),
    );
    expect(settled).toMatchObject({ kind: 'settled', chargedRaw: 10n });
    expect(w.proxy.cuts).toBe(3);
    expect(await w.sql`select wallet_raw, promised_raw from agent_funds`).toEqual([
      { wallet_raw: 40n, promised_raw: 0n },
    ]);
    expect(await checkInvariants(w.sql)).toEqual([]);
  });

  it('the ledger moves money once when the operation never arrived', async () => {
    await using w = await world();
    for (let round = 0; round < 5; round++) {
      w.proxy.loseNextCall();
      expect((await w.hold(`a${round}`)).kind).toBe('held');
    }
    expect(w.proxy.cuts).toBe(5);
    expect(await w.ledger.funds(w.agentId)).toMatchObject({ spendableRaw: 950n, heldRaw: 50n });
    expect(await checkInvariants(w.sql)).toEqual([]);
  });

  it('pending holds are made when the database comes back', async () => {
    await using w = await world();
    w.proxy.away(true);
    const verdicts = Promise.all(Array.from({ length: 50 }, (_, i) => w.hold(`h${i}`)));
    await new Promise((resolve) => setTimeout(resolve, 700));
    w.proxy.away(false);
    expect((await verdicts).every((verdict) => verdict.kind === 'held')).toBe(true);
    expect(await w.ledger.funds(w.agentId)).toMatchObject({ spendableRaw: 500n, heldRaw: 500n });
    expect(await checkInvariants(w.sql)).toEqual([]);
  });

  it('a settlement beyond its hold charges the hold and books the rest as a shortfall once, with a lost response', async () => {
    await using w = await world();
    await w.hold('h');
    w.proxy.loseNextAnswer();
    const verdict = await w.ledger.settle({
      hold: { holdId: 'h', agentId: w.agentId, amountRaw: 10n, facts: FACTS },
      actualRaw: 5_000n,
      account: 'gateway',
      source: 'acme',
    });
    expect(verdict).toMatchObject({ kind: 'settled', chargedRaw: 10n });
    const rows = await w.sql`select amounts, debits from postings where id = 'resolve:h'`;
    expect(rows).toMatchObject([
      { debits: expect.arrayContaining(['shortfall:acme']), amounts: [10n, 4_990n] },
    ]);
    expect(await w.ledger.funds(w.agentId)).toMatchObject({ spendableRaw: 990n, heldRaw: 0n });
    expect(await checkInvariants(w.sql)).toEqual([]);
  });
});
