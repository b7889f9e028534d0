import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/kernel/log.ts';
import type { LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import type { EventRow } from '../../../src/ledger/rules/companion.ts';
import { PAYMENT_LIMITS } from '../../../src/payments/limits.ts';
import {
  insertPassthroughs,
  prunePassthroughs,
} from '../../../src/payments/proxy/passthrough-store.ts';
import {
  claimCursor,
  giveCursorBack,
  requireCursor,
} from '../../../src/payments/reconcile/chain-cursor-store.ts';
import { applyVerdict } from '../../../src/payments/reservations/apply-verdict.ts';
import type { Reservation } from '../../../src/payments/reservations/reservation.ts';
import {
  countLive,
  findLive,
  findPayer,
  findReservation,
  findSettled,
  findWatched,
  sumPending,
} from '../../../src/payments/reservations/reservation-store.ts';
import { settlementEvents } from '../../../src/payments/reservations/settlement-events.ts';
import { findWalletOwners } from '../../../src/payments/reservations/wallet-store.ts';
import { findActions } from '../../../src/spend/attribution/action-store.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { seedAgent } from '../../support/ledger-world.ts';
import { moveOf, nonceOf, reservationOf } from '../../support/payments.ts';
import { FACTS } from '../../support/spending.ts';

let db: TestDatabase;
let ledger: LiveLedger;
beforeAll(async () => {
  db = await testDatabase();
  ledger = liveLedger(db.sql, 'payments');
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

type Payer = { readonly agentId: number; readonly keyId: number };

async function payer(): Promise<Payer> {
  const agent = await seedAgent(db.sql);
  const { agentId } = agent;
  const reference = `deposit ${agentId}`;
  await ledger.credit({ agentId, amountRaw: 1_000n, reference, deposit: true });
  return agent;
}

async function pay({ agentId, keyId }: Payer, name: string, change: { validBefore?: number } = {}) {
  const spender = { agentId, keyId, taskId: 't1', actionId: 'a1', customerId: 'c1' };
  const reservation = reservationOf(name, change);
  const { targetHost: host, payee } = reservation;
  await ledger.hold({
    spender,
    holdId: name,
    amountRaw: 10n,
    reservation,
    destination: { host, payee },
  });
  return rowOf(name);
}

async function rowOf(name: string): Promise<Reservation> {
  const row = await findReservation(db.sql, nonceOf(name));
  if (row === undefined) throw new Error(`there is no payment ${name}`);
  return row;
}

async function end(name: string, to: 'settled' | 'expired_unsettled') {
  const { agentId, state, valueRaw } = await rowOf(name);
  await ledger.settle({
    hold: { holdId: name, agentId, amountRaw: valueRaw, facts: FACTS },
    account: 'chain:usdc',
    source: 'x402',
    move: moveOf(name, state, to),
    actualRaw: to === 'settled' ? valueRaw : 0n,
  });
}

const names = (rows: readonly Reservation[]) => rows.map(({ holdId }) => holdId);

const LATELY = { forSeconds: 3_600, limit: 100 };

describe('reservation rows', () => {
  it('reservation rows are read back whole, and only by their own agent', async () => {
    const [own, other] = [await payer(), await payer()];
    await pay(own, 'whole');
    const row = await findReservation(db.sql, nonceOf('whole'), own.agentId);
    const { targetUrl, payee, wallet, validBefore } = reservationOf('whole');
    expect(row).toEqual({
      nonce: nonceOf('whole'),
      holdId: 'whole',
      agentId: own.agentId,
      keyId: own.keyId,
      keyRootId: own.keyId,
      wallet,
      payee,
      valueRaw: 10n,
      validBefore,
      targetUrl,
      targetHost: 'vendor.test',
      method: 'GET',
      taskId: 't1',
      actionId: 'a1',
      customerId: 'c1',
      state: 'reserved',
      refused: false,
      txHash: null,
      responseStatusCode: null,
      latencyMs: null,
      sentMs: null,
      decidedMs: null,
      isCorrected: false,
      reservedMs: expect.any(Number),
    });
    expect(await findReservation(db.sql, nonceOf('whole'), other.agentId)).toBeUndefined();
    expect(await findReservation(db.sql, nonceOf('nobody’s'))).toBeUndefined();
  });

  it('a reservation row has the root key of the rotations of its key', async () => {
    const own = await payer();
    const [root] = await db.sql<{ id: number }[]>`
      insert into agent_keys (agent_id, digest, prefix, permissions)
      values (${own.agentId}, ${`root of ${own.agentId}`}, 'svc_', 'read_write') returning id`;
    await db.sql`update agent_keys set root_id = ${root?.id ?? 0} where id = ${own.keyId}`;
    expect(await pay(own, 'rotated')).toMatchObject({ keyId: own.keyId, keyRootId: root?.id });
  });

  it('reservations that wait for the chain are found by earliest expiry, up to the limit', async () => {
    const own = await payer();
    for (const [name, validBefore] of [
      ['late', 30],
      ['soon', 10],
      ['over', 20],
    ] as const) {
      await pay(own, name, { validBefore });
    }
    const { agentId } = own;
    await ledger.advance({ agentId, holdId: 'soon', move: moveOf('soon', 'reserved', 'sent') });
    await ledger.advance({
      agentId,
      holdId: 'late',
      move: moveOf('late', 'reserved', 'pending_settlement'),
    });
    await end('over', 'settled');
    const live = await findLive(db.sql, 100);
    expect(names(live.filter((row) => row.agentId === agentId))).toEqual(['soon', 'late']);
    expect(names(await findLive(db.sql, 1))).toEqual(['soon']);
    expect(live.find(({ holdId }) => holdId === 'soon')).toMatchObject({
      state: 'sent',
      sentMs: expect.any(Number),
      decidedMs: null,
    });
    expect(await sumPending(db.sql, agentId)).toBe(10n);
  });

  it('reservations that ended unpaid are watched until they are corrected or old', async () => {
    const own = await payer();
    for (const name of ['paid', 'unpaid', 'moved', 'old']) await pay(own, name);
    await end('paid', 'settled');
    for (const name of ['unpaid', 'moved', 'old']) await end(name, 'expired_unsettled');
    const { state } = await rowOf('moved');
    await ledger.correct({
      agentId: own.agentId,
      amountRaw: 10n,
      facts: FACTS,
      move: moveOf('moved', state, state),
      charge: (costRaw) => ({
        agentId: own.agentId,
        keyId: null,
        targetUrl: 'u',
        targetHost: 'h',
        method: 'GET',
        status: 'success',
        costRaw,
        model: null,
        rail: null,
        usage: {},
        taskId: null,
        actionId: null,
        customerId: null,
        sessionId: null,
        payee: null,
        responseStatusCode: null,
        latencyMs: null,
        overheadMs: null,
        upstreamMs: null,
      }),
    });
    await db.sql`update reservations set decided_at = now() - interval '2 hours' where hold_id = 'old'`;
    const watched = await findWatched(db.sql, LATELY);
    expect(names(watched.filter(({ agentId }) => agentId === own.agentId))).toEqual(['unpaid']);
    const settled = await findSettled(db.sql, LATELY);
    expect(names(settled.filter(({ agentId }) => agentId === own.agentId))).toEqual(['paid']);
    expect(await rowOf('moved')).toMatchObject({
      isCorrected: true,
      decidedMs: expect.any(Number),
    });
  });

  it('reservations that have not ended are counted by state', async () => {
    const before = await countLive(db.sql);
    const own = await payer();
    await pay(own, 'counted');
    await pay(own, 'counted and over');
    await end('counted and over', 'settled');
    const now = await countLive(db.sql);
    expect(now.get('reserved')).toBe((before.get('reserved') ?? 0) + 1);
    expect(now.has('settled')).toBe(false);
  });
});

describe('the first settlement of an agent', () => {
  it('the first settlement of an agent is announced with its payment, and no later settlement is', async () => {
    const own = await payer();
    const row = await pay(own, 'first');
    const accountId = expect.stringMatching(/^acct_/);
    expect(await findPayer(db.sql, own.agentId)).toEqual({ accountId, isFirst: true });
    expect(await settlementEvents(db.sql, row, '0xaa')).toMatchObject([
      { name: 'x402.first_settlement', correlationId: row.nonce },
      { name: 'marketplace.payment.settled', correlationId: row.nonce },
    ]);
    await end('first', 'settled');
    expect(await findPayer(db.sql, own.agentId)).toEqual({ accountId, isFirst: false });
    expect(await settlementEvents(db.sql, row, '0xaa')).toMatchObject([
      { name: 'marketplace.payment.settled' },
    ]);
  });

  it('the first settlement of an agent is announced once when several payments settle at a time', async () => {
    const own = await payer();
    const { sql } = db;
    const rows = [];
    for (let i = 0; i < 8; i++) rows.push(await pay(own, `side by side ${i}`));
    // Each was the first one when it was looked.
    const found = new Map<string, readonly EventRow[]>();
    for (const row of rows) found.set(row.nonce, await settlementEvents(sql, row, '0xaa'));
    expect([...found.values()].flat()).toHaveLength(2 * rows.length);
    const deps = {
      ledger,
      log: silentLog,
      reload: (nonce: string) => findReservation(sql, nonce),
      eventsOf: async ({ nonce }: Reservation) => found.get(nonce) ?? [],
    };
    const used = { kind: 'used', txHash: '0xaa' } as const;
    await Promise.all(rows.map((row) => applyVerdict(deps, row, used)));
    const [told] = await sql<{ count: number }[]>`
      select count(*)::int as count from events
      where name = 'x402.first_settlement' and (payload ->> 'agentId')::int = ${own.agentId}`;
    expect(told?.count).toBe(1);
    const ends = await Promise.all(rows.map(({ holdId }) => rowOf(holdId)));
    expect(new Set(ends.map(({ state }) => state))).toEqual(new Set(['settled']));
  });
});

describe('how far the chain was read', () => {
  it('the chain cursor belongs to one process until that process gives it back with the blocks read', async () => {
    const { sql } = db;
    expect(await claimCursor(sql, 'a', 60_000)).toEqual({ kind: 'claimed', cursor: undefined });
    expect(await claimCursor(sql, 'b', 60_000)).toEqual({ kind: 'busy' });
    // A process that has died and is back need not wait for itself.
    expect(await claimCursor(sql, 'a', 60_000)).toMatchObject({ kind: 'claimed' });
    await giveCursorBack(sql, 'b', { number: 5, hash: '0x05' }, { number: 99, hash: '0x99' });
    expect(await claimCursor(sql, 'b', 60_000)).toEqual({ kind: 'busy' });
    await giveCursorBack(sql, 'a', undefined, { number: 7, hash: '0x07' });
    const cursor = { number: 7, hash: '0x07' };
    expect(await claimCursor(sql, 'b', 60_000)).toEqual({ kind: 'claimed', cursor });
    await giveCursorBack(sql, 'b', cursor, undefined);
    expect(await claimCursor(sql, 'a', 60_000)).toEqual({ kind: 'claimed', cursor });
    await giveCursorBack(sql, 'a', cursor, undefined);
  });

  it('the chain cursor goes to the next process when the lease of its holder has expired', async () => {
    const { sql } = db;
    await claimCursor(sql, 'slow', 1);
    await expect.poll(async () => (await claimCursor(sql, 'next', 60_000)).kind).toBe('claimed');
    const [seven, nine] = [
      { number: 7, hash: '0x07' },
      { number: 9, hash: '0x09' },
    ];
    // What it has read counts all the same, once: an overtaken process moves nothing and frees no other claim.
    await expect(requireCursor(sql, 'slow', 60_000)).rejects.toThrow('another process');
    await giveCursorBack(sql, 'slow', seven, nine);
    expect(await claimCursor(sql, 'third', 60_000)).toEqual({ kind: 'busy' });
    await giveCursorBack(sql, 'next', seven, { number: 8, hash: '0x08' });
    expect(await claimCursor(sql, 'next', 60_000)).toMatchObject({ cursor: nine });
    await giveCursorBack(sql, 'next', nine, undefined);
  });

  it('the chain cursor is kept for longer by a holder that renews its lease', async () => {
    const { sql } = db;
    await claimCursor(sql, 'long', 1);
    // Its time is over, and no other process has taken it.
    await requireCursor(sql, 'long', 60_000);
    expect(await claimCursor(sql, 'other', 60_000)).toEqual({ kind: 'busy' });
    await giveCursorBack(sql, 'long', undefined, undefined);
  });

  it('the chain cursor is claimed by exactly one of many concurrent processes', async () => {
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, i) => claimCursor(db.sql, `many ${i}`, 60_000)),
    );
    expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
  });
});

describe('wallets', () => {
  it('wallets are found with their agents, including closed agents', async () => {
    const [open, closed, without] = [await payer(), await payer(), await payer()];
    const wallets = { open: `0x${'0a'.repeat(20)}`, closed: `0x${'0c'.repeat(20)}` };
    await db.sql`update agents set wallet_address = ${wallets.open} where id = ${open.agentId}`;
    await db.sql`update agents set wallet_address = ${wallets.closed}, status = 'closed'
      where id = ${closed.agentId}`;
    const owners = await findWalletOwners(db.sql);
    expect(owners.get(wallets.open)).toBe(open.agentId);
    expect(owners.get(wallets.closed)).toBe(closed.agentId);
    expect([...owners.values()]).not.toContain(without.agentId);
  });
});

describe('lines of free calls', () => {
  it('free-call rows are written many at a time, and old ones are pruned in bounded batches', async () => {
    const { sql } = db;
    const own = await payer();
    const line = {
      agentId: own.agentId,
      keyId: own.keyId,
      targetUrl: 'https://vendor.test/free?q=“ö”',
      method: 'GET',
      responseStatusCode: 200,
      latencyMs: 12,
      taskId: null,
      actionId: 'a1',
    };
    const lines = Array.from({ length: PAYMENT_LIMITS.passthrough.perInsert }, () => line);
    await insertPassthroughs(sql, lines);
    await insertPassthroughs(sql, []);
    const kept = () => sql<{ url: string; at: string }[]>`
      select target_url as url, action_id as action, task_id as task, response_status_code as code
      from proxy_passthroughs where agent_id = ${own.agentId} order by id`;
    const rows = await kept();
    expect(rows).toHaveLength(lines.length);
    expect(rows[0]).toEqual({ url: line.targetUrl, action: 'a1', task: null, code: 200 });
    await sql`update proxy_passthroughs set created_at = now() - interval '91 days'
      where id in (select id from proxy_passthroughs order by id limit 5)`;
    expect(await prunePassthroughs(sql, 90, 3)).toBe(3);
    expect(await prunePassthroughs(sql, 90, 100)).toBe(2);
    expect(await prunePassthroughs(sql, 90, 100)).toBe(0);
    expect(await kept()).toHaveLength(lines.length - 5);
    // The count by action stays.
    expect(await findActions(sql, own.agentId, 10)).toMatchObject([
      { actionId: 'a1', calls: lines.length, spentRaw: 0n },
    ]);
  });

  it('free calls are counted by action beside paid calls, by many processes at once', async () => {
    const { sql } = db;
    const own = await payer();
    const line = (actionId: string | null) => ({
      agentId: own.agentId,
      keyId: own.keyId,
      targetUrl: 'https://vendor.test/free',
      method: 'GET',
      responseStatusCode: 200,
      latencyMs: 12,
      taskId: null,
      actionId,
    });
    await sql`
      insert into action_totals (agent_id, action_id, calls, spent_raw, first_seen, last_seen)
      values (${own.agentId}, 'a', 2, 70, now() - interval '1 day', now() - interval '1 hour')`;
    const some = [line('b'), line('a'), line(null), line('c'), line('a')];
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        insertPassthroughs(sql, i % 2 === 0 ? some : [...some].reverse()),
      ),
    );
    const actions = await findActions(sql, own.agentId, 10);
    const told = actions.map(({ actionId, calls, spentRaw }) => ({ actionId, calls, spentRaw }));
    expect(told.sort((x, y) => x.actionId.localeCompare(y.actionId))).toEqual([
      { actionId: 'a', calls: 22, spentRaw: 70n },
      { actionId: 'b', calls: 10, spentRaw: 0n },
      { actionId: 'c', calls: 10, spentRaw: 0n },
    ]);
    const [a] = actions.filter(({ actionId }) => actionId === 'a');
    expect((a?.lastSeen?.getTime() ?? 0) - (a?.firstSeen?.getTime() ?? 0)).toBeGreaterThan(
      80_000_000,
    );
  });
});
