import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimDueBatches } from '../../../src/phone/batches/run-store.ts';
import { createPlaceFreer } from '../../../src/phone/calls/sweep/free-places.ts';
import type { DialPlace } from '../../../src/phone/dialling/dial-pacer.ts';
import { createDialPacer } from '../../../src/phone/dialling/dial-pacer.ts';
import { PHONE_LIMITS } from '../../../src/phone/limits.ts';
import { numbered, startBatchWorld } from '../../support/call-batches.ts';
import { ManualClock } from '../../support/manual-clock.ts';

type World = Awaited<ReturnType<typeof startBatchWorld>>;

let world: World;
beforeAll(async () => {
  world = await startBatchWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

let used = 0;
/** Numbers that no other test calls. */
const fresh = (count: number) => {
  used += count;
  return numbered(count, used - count);
};
const tosOf = (recipients: readonly { to: string }[]) => recipients.map(({ to }) => to);
/** The numbers of these that were dialled, by number. */
const rungOf = (recipients: readonly { to: string }[]) =>
  world
    .rung()
    .filter((to) => tosOf(recipients).includes(to))
    .sort();

describe('a batch whose calls are refused while it runs', () => {
  it('a batch whose next call is refused pauses with that error, and spends with the key that resumes it', async () => {
    const agent = await world.agent(250_000n);
    const recipients = fresh(3);
    const [a = ''] = tosOf(recipients);
    const batchId = await world.order(agent, { recipients, maxConcurrent: 1 });
    await world.turn();
    const { ledger } = world.main;
    const spender = { agentId: agent.agentId };
    const destination = { host: 'vendor.example', payee: null };
    await ledger.hold({ spender, holdId: `gone ${batchId}`, amountRaw: 200_000n, destination });
    await world.end(a, 'busy');
    await world.turn();
    expect(await world.batches.read(agent, batchId)).toMatchObject({
      status: 'paused',
      pausedFor: 'insufficient_balance',
      totals: { counts: { busy: 1, waiting: 2, calling: 0 } },
    });
    expect(rungOf(recipients)).toEqual([a]);
    await ledger.credit({ ...spender, amountRaw: 1_000_000n, reference: `more ${batchId}` });
    await world.batches.resume(agent, batchId, { keyId: 77, keyRootId: 77 });
    const [row] = await world.sql`
      select request -> 'spender' as spender from call_batches where id = ${batchId}`;
    expect(row?.spender).toEqual({ keyId: 77, keyRootId: 77 });
  });

  it('a batch without balance keeps running while its own calls hold money that they may release', async () => {
    const agent = await world.agent(250_000n);
    const recipients = fresh(2);
    const [a = ''] = tosOf(recipients);
    const batchId = await world.order(agent, { recipients, maxConcurrent: 2 });
    const { ledger } = world.main;
    const spender = { agentId: agent.agentId };
    const destination = { host: 'vendor.example', payee: null };
    await world.sql`
      update call_batch_rows set due_at = now() + interval '1 hour'
      where batch_id = ${batchId} and seq = 1`;
    await world.turn();
    expect(rungOf(recipients)).toEqual([a]);
    await ledger.hold({ spender, holdId: `both ${batchId}`, amountRaw: 200_000n, destination });
    await world.hurry(batchId);
    await world.turn();
    expect(await world.batches.read(agent, batchId)).toMatchObject({
      status: 'running',
      totals: { counts: { waiting: 1, calling: 1 } },
    });
  });

  it('a batch gives up a recipient whose number was put on the do-not-call list, and goes on', async () => {
    const agent = await world.agent();
    const recipients = fresh(2);
    const [a = '', b = ''] = tosOf(recipients);
    const batchId = await world.order(agent, { recipients, maxConcurrent: 1 });
    await world.sql`
      insert into do_not_call (account_id, phone_number) values (${agent.accountId}, ${a})`;
    await world.turn();
    await world.turn();
    expect(rungOf(recipients)).toEqual([b]);
    expect(await world.recipients(agent, batchId)).toMatchObject([
      { status: 'done', outcome: 'refused', reason: 'invalid_to_number', calls: 0, callId: null },
      { status: 'calling' },
    ]);
  });

  it('a batch retries a call that found no turn at the carrier, and counts it once', async () => {
    const agent = await world.agent();
    const recipients = fresh(1);
    let turns = 0;
    const dials = {
      perSecond: 1,
      waiting: 0,
      enter: (): DialPlace => ({
        turn: Promise.resolve(turns++ === 0 ? 'late' : 'now'),
        leave() {},
      }),
      leave() {},
    };
    const batchId = await world.order(agent, { recipients });
    const own = world.processOf({ dials });
    await world.turn(own);
    await world.turn(own);
    await world.hurry(batchId);
    await world.turn(own);
    expect(rungOf(recipients)).toEqual(tosOf(recipients));
    expect(await world.recipients(agent, batchId)).toMatchObject([{ status: 'calling', calls: 1 }]);
  });
});

describe('a batch whose calls wait for the carrier', () => {
  it('a batch fills half of the dial queue, and its queued calls never ring once it is canceled', async () => {
    const agent = await world.agent();
    await world.sql`
      insert into voice_settings (agent_id, calls_at_once) values (${agent.agentId}, 100)`;
    await world.sql`insert into call_limits (account_id, calls) values (${agent.accountId}, 100)`;
    const recipients = fresh(20);
    const batchId = await world.order(agent, { recipients, maxConcurrent: 20 });
    const clock = new ManualClock();
    const dials = createDialPacer({ clock, perSecond: 1, longestWaitMs: 10_000 });
    const own = world.processOf({ dials });
    await world.sql`update call_batches set due_at = null where id <> ${batchId}`;
    const takeTurn = async () => {
      await world.sql`update call_batches set due_at = now() where id = ${batchId}`;
      await own.runner.tick();
      return dials.waiting;
    };
    // The first call rings, and five wait behind it.
    await expect.poll(takeTurn, { interval: 5 }).toBe(5);
    for (let turns = 0; turns < 3; turns++) expect(await takeTurn()).toBe(5);
    const written = async () =>
      (await world.sql`select 1 from calls where batch_id = ${batchId}`).length;
    await expect.poll(written, { interval: 5 }).toBe(6);
    expect(await world.batches.read(agent, batchId)).toMatchObject({
      totals: { counts: { waiting: 14, calling: 6 } },
    });
    await own.batches.cancel(agent, batchId, { hangUp: false });
    await own.runner[Symbol.asyncDispose]();
    expect(dials.waiting).toBe(0);
    expect(rungOf(recipients)).toHaveLength(1);
    await world.turn();
    expect(await world.batches.read(agent, batchId)).toMatchObject({
      totals: { counts: { canceled: 19, calling: 1 } },
    });
  });

  it('a batch leaves dial slots to the batches of other agents while the carrier does not answer its own dials', async () => {
    const slow = await world.agent();
    const other = await world.agent();
    await world.sql`
      insert into voice_settings (agent_id, calls_at_once) values (${slow.agentId}, 1000)`;
    await world.sql`insert into call_limits (account_id, calls) values (${slow.accountId}, 1000)`;
    await world.sql`update call_batches set due_at = null`;
    const many = fresh(40);
    await world.order(slow, { recipients: many, maxConcurrent: 40 });
    let free = () => {};
    const freed = new Promise<void>((resolve) => {
      free = resolve;
    });
    let asked = 0;
    const { carrier } = world.main.deps;
    const dial: typeof carrier.calls.dial = async (request) => {
      if (tosOf(many).includes(request.to)) {
        asked++;
        await freed;
      }
      return carrier.calls.dial(request);
    };
    const own = world.processOf({ carrier: { ...carrier, calls: { ...carrier.calls, dial } } });
    const tick = async () => {
      await world.sql`update call_batches set due_at = now() where due_at is not null`;
      await own.runner.tick();
      return asked;
    };
    await expect.poll(tick, { interval: 5 }).toBe(PHONE_LIMITS.batch.placing.agent);
    const recipients = fresh(1);
    await world.order(other, { recipients });
    await expect
      .poll(async () => {
        await tick();
        return rungOf(recipients);
      })
      .toEqual(tosOf(recipients));
    expect(asked).toBe(PHONE_LIMITS.batch.placing.agent);
    free();
    await own.runner[Symbol.asyncDispose]();
  });
});

describe('a batch at several processes', () => {
  it('a batch frees the transcription slots of its calls, even when another process receives their end', async () => {
    const agent = await world.agent();
    const recipients = fresh(2);
    const [a = '', b = ''] = tosOf(recipients);
    await world.sql`update call_batches set due_at = null`;
    await world.order(agent, { recipients, maxConcurrent: 1 });
    const kept = new Set<string>();
    const room = {
      keep(callId: string) {
        if (kept.size > 0) return 1;
        kept.add(callId);
        return undefined;
      },
      forget: (callId: string) => void kept.delete(callId),
      get kept() {
        return [...kept];
      },
      take: () => ({ release() {} }),
    };
    const own = world.processOf({ room });
    await world.turn(own);
    expect([kept.size, rungOf(recipients)]).toEqual([1, [a]]);
    await world.end(a, 'no-answer');
    await createPlaceFreer({ room, sql: world.sql }).tick();
    expect(kept.size).toBe(0);
    await world.turn(own);
    expect([kept.size, rungOf(recipients)]).toEqual([1, [a, b]]);
  });

  it('the lost calls of a batch are placed by another process, and calls that were written are not placed again', async () => {
    const agent = await world.agent();
    const recipients = fresh(2);
    const [a = '', b = ''] = tosOf(recipients);
    const batchId = await world.order(agent, { recipients });
    let late: AsyncDisposable | undefined;
    let reached = 0;
    let release = () => {};
    const stopped = new Promise<void>((resolve) => {
      release = resolve;
    });
    const arrived = new Promise<void>((resolve) => {
      const note = () => {
        if (++reached === 2) resolve();
      };
      // One call hangs before its row is written, the other one behind it.
      const calls = world.main.deps.carrier.calls;
      const lost = world.processOf({
        refusalOf: async (to) => {
          if (to === a) {
            note();
            await stopped;
          }
          return undefined;
        },
        carrier: {
          ...world.main.deps.carrier,
          calls: {
            ...calls,
            dial: async (request) => {
              note();
              await stopped;
              return calls.dial(request);
            },
          },
        },
      });
      void lost.runner.tick();
      late = lost.runner;
    });
    await arrived;
    await world.sql`update call_batch_rows set due_at = now() where batch_id = ${batchId}`;
    await world.turn();
    await world.turn();
    expect(rungOf(recipients)).toEqual([a]);
    release();
    await late?.[Symbol.asyncDispose]();
    expect(rungOf(recipients)).toEqual([a, b]);
    const rows = await world.sql`
      select to_number, terminal from calls where batch_id = ${batchId} order by to_number`;
    expect(rows).toMatchObject([
      { to_number: a, terminal: false },
      { to_number: b, terminal: false },
    ]);
    expect(await world.faults()).toEqual([]);
  });

  it('a batch is claimed beside those of a busy agent, however many batches that agent has', async () => {
    const busy = await world.agent();
    const other = await world.agent();
    await world.sql`
      insert into voice_settings (agent_id, calls_at_once) values (${busy.agentId}, 1000)`;
    await world.sql`insert into call_limits (account_id, calls) values (${busy.accountId}, 1000)`;
    for (let n = 0; n < 18; n++)
      await world.order(busy, { recipients: fresh(5), maxConcurrent: 2 });
    const recipients = fresh(1);
    const batchId = await world.order(other, { recipients });
    await world.sql`
      update call_batches set due_at = null where agent_id not in (${busy.agentId}, ${other.agentId})`;
    const first = await claimDueBatches(world.sql, 2);
    expect(first.map((each) => each.agentId).sort()).toEqual([busy.agentId, other.agentId].sort());
    expect(first.map((each) => each.batchId)).toContain(batchId);
  });
});
