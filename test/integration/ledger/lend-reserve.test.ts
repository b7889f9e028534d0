import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { createTakeSession } from '../../../src/ledger/engine/take-session.ts';
import type { HoldVerdict } from '../../../src/ledger/rules/ledger.ts';
import type { Hold } from '../../../src/ledger/rules/requests.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import type { Source } from '../../../src/models/catalogue/catalogue.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { openSessionHold } from '../../../src/voice/billing/session-hold.ts';
import { MAIN_HOLD, SessionHolds } from '../../../src/voice/billing/session-holds.ts';
import { testDatabase } from '../../support/database.ts';
import { seedAgents } from '../../support/ledger-world.ts';
import { addPolicy } from '../../support/policies.ts';
import { processOn } from '../../support/reaping-process.ts';

const SOURCE: Source = {
  rail: 'direct-account',
  provider: 'loopback',
  upstreamModel: 'phone',
  rates: {},
  marginBps: 0,
};
const SHOP = { host: 'shop.example', payee: null };

/** An agent whose call has reserved all that it has, and a process that holds the call. */
async function calling(sql: Sql, { creditRaw = 600n, reserveRaw = 600n } = {}) {
  const [agent] = await seedAgents(sql, 1);
  const agentId = agent?.agentId ?? 0;
  const [row] = await sql<{ accountId: string }[]>`
    select account_id as "accountId" from agents where id = ${agentId}`;
  const accountId = row?.accountId ?? '';
  const process = await processOn(sql, `calling ${agentId}`, 60_000);
  const { ledger } = process;
  await ledger.credit({ agentId, amountRaw: creditRaw, reference: `start ${agentId}` });
  const spender = { agentId, accountId };
  const deps = { ledger, clock: systemClock, log: silentLog };
  const sessionId = `CA${agentId}`;
  const owner = { spender, sessionId, kind: 'call', model: 'phone', source: SOURCE } as const;
  const holds = new SessionHolds(
    (name, raw, isQuiet) =>
      openSessionHold(
        deps,
        name === MAIN_HOLD ? owner : { ...owner, sessionId: `${sessionId}.${name}` },
        raw,
        isQuiet,
      ),
    { hasOneReserve: true, holdIdOf: (name) => `${sessionId}.${name}` },
  );
  await holds.hold(MAIN_HOLD, reserveRaw);
  const buy = (holdId: string, amountRaw: bigint, change: object = {}) =>
    ledger.hold({
      spender: { ...spender, reserve: holds },
      holdId,
      amountRaw,
      destination: SHOP,
      ...change,
    });
  const settle = (held: HoldVerdict, actualRaw: bigint) =>
    ledger.settle({ hold: holdOf(held), actualRaw, account: 'marketplace', source: 'shop' });
  const end = () => holds.settle({ reason: 'client_closed', status: 'success' });
  const funds = async () => {
    const [found] = await sql`
      select spendable_raw as spendable, held_raw as held from agent_funds
      where agent_id = ${agentId}`;
    return { ...found };
  };
  return { ...process, agentId, accountId, buy, end, funds, holds, settle, spender };
}

function holdOf(held: HoldVerdict): Hold {
  if (held.kind !== 'held') throw new Error(`it was refused: ${held.refusal.reason}`);
  return held.hold;
}

describe('a purchase out of the reserve of a call', () => {
  it('a purchase is held from the call’s reserve when the balance is empty, and its rest returns to the reserve', async () => {
    await using db = await testDatabase();
    const call = await calling(db.sql);
    const first = await call.buy('a', 400n);
    expect(await call.funds()).toEqual({ spendable: 0n, held: 600n });
    expect(call.holds.mainFreeRaw).toBe(200n);
    await call.settle(first, 100n);
    expect(await call.funds()).toEqual({ spendable: 0n, held: 500n });
    expect(call.holds.mainFreeRaw).toBe(500n);
    // The hold has the amounts of before again.
    const second = await call.buy('b', 300n);
    await call.settle(second, 0n);
    const third = await call.buy('c', 500n);
    await call.settle(third, 500n);
    expect(call.holds.mainFreeRaw).toBe(0n);
    await call.end();
    expect(await call.funds()).toEqual({ spendable: 0n, held: 0n });
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('concurrent purchases from a call’s reserve never exceed it, and no other hold takes the money in between', async () => {
    await using db = await testDatabase();
    const call = await calling(db.sql);
    const rival = await processOn(db.sql, 'rival', 60_000);
    const wanted = Array.from({ length: 20 }, (_, i) => call.buy(`p${i}`, 70n));
    const stolen = Array.from({ length: 20 }, (_, i) =>
      rival.ledger.hold({
        spender: { agentId: call.agentId },
        holdId: `r${i}`,
        amountRaw: 1n,
        destination: SHOP,
      }),
    );
    const verdicts = await Promise.all(wanted);
    const held = verdicts.filter(({ kind }) => kind === 'held');
    expect(held).toHaveLength(8);
    for (const verdict of verdicts) {
      if (verdict.kind === 'refused') expect(verdict.refusal.reason).toBe('reserve_exceeded');
    }
    const settling = held.map((one, i) => call.settle(one, BigInt(i)));
    for (const verdict of await Promise.all(stolen)) expect(verdict.kind).toBe('refused');
    await Promise.all(settling);
    expect(call.holds.mainFreeRaw).toBe(600n - 28n);
    expect(await call.funds()).toEqual({ spendable: 0n, held: 572n });
    await call.end();
    expect(await call.funds()).toEqual({ spendable: 572n, held: 0n });
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('a purchase from a call’s reserve that a control refuses leaves the reserve unchanged', async () => {
    await using db = await testDatabase();
    const call = await calling(db.sql, { creditRaw: 1_000n });
    const { accountId, agentId } = call;
    const own = { accountId, agentId } as const;
    await addPolicy(db.sql, { ...own, kind: 'api', matchKey: 'shop.example', limitRaw: 50n });
    call.ledger.invalidate(agentId);
    const refused = await call.buy('a', 60n);
    expect(refused).toMatchObject({ kind: 'refused', refusal: { reason: 'cap_exceeded' } });
    expect([call.holds.mainFreeRaw, await call.funds()]).toEqual([
      600n,
      { spendable: 400n, held: 600n },
    ]);
    await call.settle(await call.buy('b', 50n), 50n);
    await call.end();
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('a purchase from a call’s reserve that a team cap refuses leaves the reserve unchanged, and a fitting one is held', async () => {
    await using db = await testDatabase();
    const call = await calling(db.sql, { creditRaw: 1_000n });
    const { accountId } = call;
    const team = { accountId, agentId: null, kind: 'api', matchKey: 'shop.example' } as const;
    await addPolicy(db.sql, { ...team, limitRaw: 50n });
    call.ledger.invalidate(call.agentId);
    const refused = await call.buy('a', 60n);
    expect(refused).toMatchObject({ kind: 'refused', refusal: { reason: 'cap_exceeded' } });
    expect([call.holds.mainFreeRaw, await call.funds()]).toEqual([
      600n,
      { spendable: 400n, held: 600n },
    ]);
    await call.settle(await call.buy('b', 50n), 20n);
    expect(call.holds.mainFreeRaw).toBe(580n);
    await call.end();
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('a purchase from a call’s reserve fits although the reserve has used up a cap of the agent and its team', async () => {
    await using db = await testDatabase();
    const call = await calling(db.sql, { creditRaw: 1_000n });
    const { accountId, agentId } = call;
    await addPolicy(db.sql, { accountId, agentId, kind: 'session', limitRaw: 600n });
    await addPolicy(db.sql, { accountId, agentId: null, kind: 'session', limitRaw: 600n });
    call.ledger.invalidate(agentId);
    expect(await call.settle(await call.buy('a', 300n), 100n)).toMatchObject({ kind: 'settled' });
    expect(call.holds.mainFreeRaw).toBe(500n);
    await call.end();
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('a purchase from a call’s reserve that a kill switch refuses suspends the agent', async () => {
    await using db = await testDatabase();
    const call = await calling(db.sql);
    const { accountId, agentId } = call;
    const cap = { kind: 'api', matchKey: 'shop.example', limitRaw: 10n } as const;
    await addPolicy(db.sql, { accountId, agentId, ...cap, action: 'suspend_agent' });
    call.ledger.invalidate(agentId);
    expect(await call.buy('a', 11n)).toMatchObject({ refusal: { suspended: true } });
    const [agent] = await db.sql`select status from agents where id = ${agentId}`;
    expect(agent?.status).toBe('suspended');
    await call.end();
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('a purchase in progress when its call ends is settled once, and its rest returns to the balance', async () => {
    await using db = await testDatabase();
    const call = await calling(db.sql);
    const held = await call.buy('a', 400n);
    await call.end();
    expect(await call.funds()).toEqual({ spendable: 200n, held: 400n });
    expect(await call.buy('late', 1n)).toMatchObject({ refusal: { reason: 'reserve_exceeded' } });
    await call.settle(held, 150n);
    await call.settle(held, 150n);
    expect(await call.funds()).toEqual({ spendable: 450n, held: 0n });
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('a purchase of a killed process is released by another process, which takes over the rest of the reserve', async () => {
    await using db = await testDatabase();
    const call = await calling(db.sql);
    await call.buy('a', 400n);
    await db.sql`update leases set expires_at = now() - interval '1 hour'
      where node_id = ${`calling ${call.agentId}`}`;
    const other = await processOn(db.sql, 'other', 60_000);
    await other.atOnce.tick();
    await other.atOnce.tick();
    expect(await call.funds()).toEqual({ spendable: 400n, held: 200n });
    const taken = await createTakeSession({ sql: db.sql, node: other.node })(`CA${call.agentId}`);
    expect(taken?.claim).toMatchObject({ epoch: 2, hold: { amountRaw: 200n } });
    expect(await call.buy('late', 1n)).toMatchObject({ refusal: { reason: 'reserve_exceeded' } });
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('a purchase from the reserve of a session that another process has taken is refused, and holds nothing', async () => {
    await using db = await testDatabase();
    const call = await calling(db.sql);
    await db.sql`update sessions set epoch = epoch + 1 where id = ${`CA${call.agentId}`}`;
    expect(await call.buy('a', 100n)).toMatchObject({ refusal: { reason: 'reserve_exceeded' } });
    expect(await call.funds()).toEqual({ spendable: 0n, held: 600n });
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('concurrent purchases, settlements and model holds never exceed a call’s reserve, and the ledger adds up', async () => {
    await using db = await testDatabase();
    const step = fc.record({
      kind: fc.constantFrom('buy', 'buy', 'settle', 'settle', 'model', 'line'),
      raw: fc.bigInt({ min: 1n, max: 250n }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        const call = await calling(db.sql);
        const open: HoldVerdict[] = [];
        let chargedRaw = 0n;
        const settleOne = async (held: HoldVerdict | undefined, actualRaw: bigint) => {
          if (held === undefined) return;
          const verdict = await call.settle(held, actualRaw);
          if (verdict.kind === 'settled') chargedRaw += verdict.chargedRaw;
        };
        const act = async ({ kind, raw }: (typeof steps)[number], i: number) => {
          if (kind === 'buy') {
            const held = await call.buy(`${call.agentId}.${i}`, raw);
            if (held.kind === 'held') open.push(held);
          } else if (kind === 'settle') await settleOne(open.pop(), raw / 2n);
          else if (kind === 'model') await call.holds.hold('acme', raw);
          else {
            const costRaw = raw < call.holds.mainFreeRaw ? raw / 9n : 0n;
            await call.holds.journal([{ sessionHold: MAIN_HOLD, costRaw, usage: {} }]);
          }
          expect((await call.funds()).spendable).toBe(0n);
        };
        for (let i = 0; i < steps.length; i += 4) {
          await Promise.all(steps.slice(i, i + 4).map((one, n) => act(one, i + n)));
        }
        const lineRaw = call.holds.spentRaw;
        await Promise.all([call.end(), ...open.map((held) => settleOne(held, 7n))]);
        expect(await call.funds()).toEqual({
          spendable: 600n - chargedRaw - lineRaw,
          held: 0n,
        });
        expect(await checkInvariants(db.sql)).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
});
