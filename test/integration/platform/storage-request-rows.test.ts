import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createIdempotencyKeys,
  type IdempotencyKeys,
  type KeyClaim,
  pruneKeys,
} from '../../../src/idempotency/idempotency-store.ts';
import { paymentHoldId } from '../../../src/ledger/rules/payment.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { endLease, takeLease } from '../../../src/ledger/store/lease-store.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { createRateWindows, pruneRateWindows } from '../../../src/rate-limit/rate-store.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { memoryKeys } from '../../support/fakes/memory-keys.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { seedAgent } from '../../support/ledger-world.ts';
import { reservationOf } from '../../support/payments.ts';
import { DESTINATION } from '../../support/spending.ts';

const WINDOW_MS = 600_000;

let db: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  db = await testDatabase(20);
  sql = db.sql;
});
afterAll(() => db[Symbol.asyncDispose]());

let names = 0;
const claimOf = (key: string, more: Partial<KeyClaim> = {}): KeyClaim => ({
  owner: 'agent:1',
  key,
  method: 'POST',
  path: '/v1/buy',
  workId: `work_${++names}`,
  ...more,
});

/** A process with a lease, and its keys. */
async function processOn(windowMs = WINDOW_MS) {
  const node = await takeLease(sql, `node ${++names}`, 60_000);
  return { node, keys: createIdempotencyKeys({ sql, node, windowMs }) };
}

/** The same contract for the table and for what stands in for it. */
const KINDS: readonly {
  readonly name: string;
  make(): Promise<{ keys: IdempotencyKeys; pass(): Promise<void>; die(): Promise<void> }>;
}[] = [
  {
    name: 'in PostgreSQL',
    async make() {
      const { node, keys } = await processOn();
      return {
        keys,
        pass: async () => void (await sql`update idempotency_keys set expires_at = now()`),
        die: () => endLease(sql, node),
      };
    },
  },
  {
    name: 'in memory',
    async make() {
      let nowMs = 0;
      const keys = memoryKeys(() => nowMs, WINDOW_MS);
      const pass = async () => {
        nowMs += WINDOW_MS;
      };
      return { keys, pass, die: async () => keys.die() };
    },
  },
];

for (const { name, make } of KINDS) {
  describe(`idempotency keys ${name}`, () => {
    it('an idempotency key is claimed once, even if the same claim is repeated, and keeps its response', async () => {
      const { keys, pass } = await make();
      const claim = claimOf(`once ${name}`);
      const other = { ...claim, workId: 'work_other' };
      expect(await keys.take(claim)).toEqual({ kind: 'taken' });
      expect(await keys.take(claim)).toEqual({ kind: 'taken' });
      expect(await keys.take(other)).toMatchObject({
        kind: 'standing',
        standing: { state: 'in_flight', workId: claim.workId, ownerLives: true, isOver: false },
      });
      const answer = Buffer.from([0, 255, 10, 92, 39]);
      expect(await keys.finish(other, answer, WINDOW_MS)).toBe(false);
      expect(await keys.finish(claim, answer, WINDOW_MS)).toBe(true);
      expect(await keys.finish(claim, answer, WINDOW_MS)).toBe(true);
      await keys.free(claim);
      const standing = await keys.take(other);
      if (standing.kind !== 'standing') throw new Error(standing.kind);
      expect(Buffer.from(standing.standing.answer ?? []).equals(answer)).toBe(true);
      await pass();
      expect(await keys.take(other)).toEqual({ kind: 'taken' });
    });

    it('an idempotency key stays in flight past its time, and is free only once its own work frees it', async () => {
      const { keys, pass } = await make();
      const claim = claimOf(`freed ${name}`);
      const other = { ...claim, workId: 'work_other' };
      await keys.take(claim);
      await pass();
      expect(await keys.take(other)).toMatchObject({ standing: { isOver: true } });
      await keys.free(other);
      expect(await keys.take(other)).toMatchObject({ kind: 'standing' });
      await keys.free(claim);
      expect(await keys.take(other)).toEqual({ kind: 'taken' });
    });

    it('an idempotency key of a dead process is taken over by exactly one process, and the dead one cannot finish it', async () => {
      const { keys, die } = await make();
      const claim = claimOf(`dead ${name}`);
      await keys.take(claim);
      await die();
      const heir = name === 'in memory' ? keys : (await processOn()).keys;
      const heirs = [claimOf(claim.key), claimOf(claim.key)];
      expect(await heir.take(heirs[0] as KeyClaim)).toMatchObject({
        standing: { ownerLives: false },
      });
      const won = await Promise.all(heirs.map((one) => heir.takeOver(one, claim.workId)));
      expect(won.toSorted()).toEqual([false, true]);
      expect(await keys.finish(claim, null, WINDOW_MS)).toBe(false);
    });
  });
}

describe('idempotency keys in the database', () => {
  it('an idempotency key in the database is given to exactly one of many concurrent requests', async () => {
    const processes = [await processOn(), await processOn()];
    for (let round = 0; round < 20; round++) {
      const claims = Array.from({ length: 10 }, () => claimOf(`race ${round}`));
      const verdicts = await Promise.all(
        claims.map((claim, n) => processes[n % 2]?.keys.take(claim)),
      );
      expect(verdicts.filter((verdict) => verdict?.kind === 'taken')).toHaveLength(1);
    }
  });

  it('an idempotency key is not claimed by a process without a lease, whose key would look abandoned', async () => {
    const { node, keys } = await processOn();
    await endLease(sql, node);
    expect(await keys.take(claimOf('leaseless'))).toEqual({ kind: 'lease_lost' });
    const other = createIdempotencyKeys({
      sql,
      windowMs: WINDOW_MS,
      node: { ...node, leaseEpoch: 7 },
    });
    expect(await other.take(claimOf('leaseless'))).toEqual({ kind: 'lease_lost' });
  });

  it('an idempotency key learns from the ledger whether its work was charged', async () => {
    const { keys } = await processOn();
    await using ledger = liveLedger(sql, 'fates');
    const spender = await seedAgent(sql);
    const { agentId } = spender;
    await ledger.credit({ agentId, amountRaw: 1_000n, reference: 'fates' });
    expect(await keys.fateOf('work_a')).toEqual({ kind: 'unpaid' });
    for (const [holdId, actualRaw, fate] of [
      ['work_b', 0n, { kind: 'unpaid' }],
      ['work_c', 70n, { kind: 'charged', chargedRaw: 70n, reservation: null }],
      // What goes beyond the hold is a shortfall of its source and not charged.
      ['work_d', 130n, { kind: 'charged', chargedRaw: 100n, reservation: null }],
    ] as const) {
      const verdict = await ledger.hold({
        spender,
        holdId,
        amountRaw: 100n,
        destination: DESTINATION,
      });
      if (verdict.kind !== 'held') throw new Error('refused');
      expect(await keys.fateOf(holdId)).toEqual({ kind: 'undecided' });
      const { hold } = verdict;
      await ledger.settle({ hold, actualRaw, account: 'gateway', source: 'x' });
      expect(await keys.fateOf(holdId)).toEqual(fate);
    }
  });

  it('an idempotency key learns of a payment within its work, which has a hold of its own', async () => {
    const { keys } = await processOn();
    await using ledger = liveLedger(sql, 'paid fates');
    const spender = await seedAgent(sql);
    const { agentId } = spender;
    await ledger.credit({ agentId, amountRaw: 1_000n, reference: 'paid', deposit: true });
    /** A margin that is given back, as after the death of its process, and a payment that is on its way. */
    const begin = async (workId: string) => {
      const destination = DESTINATION;
      const margin = await ledger.hold({ spender, holdId: workId, amountRaw: 5n, destination });
      const reservation = reservationOf(workId);
      const holdId = paymentHoldId(workId);
      const paid = { ...destination, payee: reservation.payee };
      const payment = await ledger.hold({
        spender,
        holdId,
        amountRaw: 100n,
        destination: paid,
        reservation,
      });
      if (margin.kind !== 'held' || payment.kind !== 'held') throw new Error('refused');
      const books = { account: 'gateway', source: 'x' } as const;
      await ledger.settle({ hold: margin.hold, actualRaw: 0n, ...books });
      expect(await keys.fateOf(workId)).toEqual({ kind: 'undecided' });
      const end = (to: 'settled' | 'released', actualRaw: bigint) =>
        ledger.settle({
          hold: payment.hold,
          actualRaw,
          account: 'chain:usdc',
          source: 'x402',
          move: { nonce: reservation.nonce, from: 'reserved', to },
        });
      return { end, reservation };
    };
    const { nonce, validBefore } = (await begin('work_undecided')).reservation;
    expect(nonce).not.toBe('');
    const settled = await begin('work_settled');
    await settled.end('settled', 100n);
    expect(await keys.fateOf('work_settled')).toEqual({
      kind: 'charged',
      chargedRaw: 100n,
      reservation: { nonce: settled.reservation.nonce, validBefore },
    });
    await (await begin('work_released')).end('released', 0n);
    expect(await keys.fateOf('work_released')).toEqual({ kind: 'unpaid' });
    // The margin was held when the others came by, and the payment was not.
    await ledger.hold({ spender, holdId: 'work_slow', amountRaw: 5n, destination: DESTINATION });
    await keys.forbid('work_slow', agentId);
    const late = { spender, holdId: paymentHoldId('work_slow'), amountRaw: 1n };
    await expect(ledger.hold({ ...late, destination: DESTINATION })).rejects.toThrow('used before');
    expect(await checkInvariants(sql)).toEqual([]);
  });

  it('an idempotency key that is forbidden keeps a process that only looked dead from holding money', async () => {
    const { keys } = await processOn();
    await using frozen = liveLedger(sql, 'frozen');
    const spender = await seedAgent(sql);
    await frozen.credit({ agentId: spender.agentId, amountRaw: 1_000n, reference: 'frozen' });
    const hold = (holdId: string) =>
      frozen.hold({ spender, holdId, amountRaw: 10n, destination: DESTINATION });
    await keys.forbid('work_late', spender.agentId);
    await keys.forbid('work_late', spender.agentId);
    expect(await keys.fateOf('work_late')).toEqual({ kind: 'unpaid' });
    await expect(hold('work_late')).rejects.toThrow('used before');
    expect(await frozen.funds(spender.agentId)).toMatchObject({ heldRaw: 0n });
    // The other way round it is the hold that stands.
    const verdict = await hold('work_early');
    await keys.forbid('work_early', spender.agentId);
    expect(await keys.fateOf('work_early')).toEqual({ kind: 'undecided' });
    if (verdict.kind !== 'held') throw new Error('refused');
    const free = { hold: verdict.hold, actualRaw: 0n, account: 'gateway', source: 'x' } as const;
    await frozen.settle(free);
    expect(await checkInvariants(sql)).toEqual([]);
  });

  it('an idempotency key is pruned ten minutes after its response, in bounded batches, and kept while undecided', async () => {
    await sql`delete from idempotency_keys`;
    const living = await processOn();
    const dead = await processOn();
    await using ledger = liveLedger(sql, 'prune');
    const spender = await seedAgent(sql);
    const { agentId } = spender;
    await ledger.credit({ agentId, amountRaw: 1_000n, reference: 'prune', deposit: true });
    const take = async (keys: IdempotencyKeys, key: string) => {
      const claim = claimOf(key);
      await keys.take(claim);
      return claim;
    };
    for (const key of ['done 1', 'done 2', 'done 3']) {
      await living.keys.finish(await take(living.keys, key), null, 0);
    }
    await take(living.keys, 'living');
    await take(dead.keys, 'dead and unpaid');
    const { workId } = await take(dead.keys, 'dead and undecided');
    await ledger.hold({ spender, holdId: workId, amountRaw: 1n, destination: DESTINATION });
    const paying = await take(dead.keys, 'dead and paying');
    const reservation = reservationOf(paying.workId);
    const { payee } = reservation;
    await ledger.hold({
      spender,
      holdId: paymentHoldId(paying.workId),
      amountRaw: 1n,
      reservation,
      destination: { ...DESTINATION, payee },
    });
    await sql`update idempotency_keys set expires_at = now()`;
    await living.keys.finish(await take(living.keys, 'fresh'), null, WINDOW_MS);
    await endLease(sql, dead.node);

    const left = async () => {
      const rows = await sql<{ key: string }[]>`select key from idempotency_keys order by key`;
      return rows.map(({ key }) => key);
    };
    expect(await pruneKeys(sql, 2, false)).toBe(2);
    expect(await pruneKeys(sql, 2, false)).toBe(1);
    expect(await left()).toEqual([
      'dead and paying',
      'dead and undecided',
      'dead and unpaid',
      'fresh',
      'living',
    ]);
    expect(await pruneKeys(sql, 10, true)).toBe(1);
    expect(await left()).toEqual(['dead and paying', 'dead and undecided', 'fresh', 'living']);
  });
});

describe('rate windows', () => {
  it('a rate window counts the claims of all processes, starts anew when it is over, and reports its remaining time', async () => {
    const windows = createRateWindows(sql, 60_000);
    const claim = async (tokens: number) =>
      (await windows.claim([{ bucket: 'ip:1', tokens }])).get('ip:1');
    const first = await claim(5);
    expect(first).toMatchObject({ taken: 5 });
    expect(first?.leftMs).toBeGreaterThan(59_000);
    expect(first?.leftMs).toBeLessThanOrEqual(60_000);
    expect(await claim(7)).toMatchObject({ taken: 12, windowId: first?.windowId });
    await sql`update rate_windows set started_at = started_at - interval '60 seconds'`;
    const next = await claim(3);
    expect(next?.taken).toBe(3);
    expect(next?.windowId).not.toBe(first?.windowId);
  });

  it('concurrent rate windows take many buckets in any order without a deadlock', async () => {
    const windows = createRateWindows(sql, 60_000);
    const all = Array.from({ length: 200 }, (_, n) => ({ bucket: `cross:${n}`, tokens: 1 }));
    const claims = Array.from({ length: 40 }, (_, n) =>
      windows.claim(n % 2 === 0 ? all : all.toReversed()),
    );
    await Promise.all(claims);
    const counted = await windows.claim(all);
    expect([...counted.values()].every(({ taken }) => taken === 41)).toBe(true);
  });

  it('old rate windows are pruned in bounded batches', async () => {
    await sql`delete from rate_windows`;
    const windows = createRateWindows(sql, 60_000);
    await windows.claim(['a', 'b', 'c'].map((bucket) => ({ bucket, tokens: 1 })));
    await sql`update rate_windows set started_at = now() - interval '3 minutes' where bucket <> 'c'`;
    expect(await pruneRateWindows(sql, 120_000, 1)).toBe(1);
    expect(await pruneRateWindows(sql, 120_000, 5)).toBe(1);
    expect(await pruneRateWindows(sql, 120_000, 5)).toBe(0);
  });
});
