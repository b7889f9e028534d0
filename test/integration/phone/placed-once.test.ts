import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endLease } from '../../../src/ledger/store/lease-store.ts';
import type { CallDeps } from '../../../src/phone/calls/call-deps.ts';
import { advanceRow } from '../../../src/phone/calls/call-store.ts';
import { type Calls, createCalls } from '../../../src/phone/calls/calls.ts';
import { placeCall } from '../../../src/routes/calls/place.ts';
import { startCallWorld } from '../../support/call-world.ts';
import { bearer, fakeCredentials, KEYS } from '../../support/edge.ts';
import { startKeyedEdge } from '../../support/keyed-edge.ts';
import { processOn } from '../../support/reaping-process.ts';

type World = Awaited<ReturnType<typeof startCallWorld>>;
type Agent = Awaited<ReturnType<World['agent']>>;

let world: World;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const gate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

let processes = 0;

/** A process that places calls for one agent, as far as a test lets it. */
async function placing(agent: Agent, change: (deps: CallDeps) => Partial<CallDeps> = () => ({})) {
  const { sql } = world;
  const own = await processOn(sql, `placing ${++processes}`, 60_000);
  const dialled: string[] = [];
  const calls = {
    ...world.deps.carrier.calls,
    dial: async ({ callId }: { callId: string }) => {
      dialled.push(callId);
      return { carrierCallId: `LB${callId}` };
    },
  };
  const deps: CallDeps = {
    ...world.deps,
    ledger: own.ledger,
    refusalOf: async () => undefined,
    carrier: { ...world.deps.carrier, calls },
  };
  const caller = fakeCredentials.rememberedAgent(KEYS.agent);
  const agentKey = () => caller && { ...caller, ...agent, keyId: 0, keyRootId: 0 };
  const calling = createCalls({ ...deps, ...change(deps) });
  // The key of the edge is in no database, so that no money may be held for it.
  const place: Calls['place'] = (order) => calling.place({ ...order, spender: {} });
  const services = { calls: { ...calling, place } };
  const edge = await startKeyedEdge(sql, [placeCall], {
    credentials: { ...fakeCredentials, rememberedAgent: agentKey, agentKey },
    services,
  });
  return {
    atOnce: own.atOnce,
    dialled,
    async place(key: string) {
      const answer = await fetch(`${edge.url}/v1/calls`, {
        method: 'POST',
        headers: {
          ...bearer(KEYS.agent),
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ toNumber: '+14155550199' }),
      });
      const body = (await answer.json()) as Record<string, unknown>;
      return { status: answer.status, body, headers: answer.headers };
    },
    /** Others take it for dead from now on. */
    async lapse() {
      await endLease(sql, edge.node);
      await endLease(sql, own.node);
    },
    [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose](),
  };
}

const rowsOf = ({ agentId }: Agent) =>
  world.sql`select id, status, terminal, end_reason from calls where agent_id = ${agentId} order by created_at`;

describe('a call under a key whose process was lost', () => {
  it('a call under an Idempotency-Key whose process was lost is returned to the retry with its current state, and rings once', async () => {
    const agent = await world.agent();
    const asked = gate();
    const lost = gate();
    await using first = await placing(agent, ({ carrier }) => ({
      carrier: {
        ...carrier,
        calls: {
          ...carrier.calls,
          dial: async (request) => {
            asked.open();
            await lost.opened;
            return carrier.calls.dial(request);
          },
        },
      },
    }));
    await using heir = await placing(agent);
    const answered = first.place('rings');
    await asked.opened;
    expect((await heir.place('rings')).body).toMatchObject({ error: 'request_in_flight' });
    await first.lapse();
    const retried = await heir.place('rings');
    const [row] = await rowsOf(agent);
    expect(retried).toMatchObject({
      status: 201,
      body: { callId: row?.id, from: agent.phoneNumber, to: '+14155550199', status: 'queued' },
    });
    expect(retried.headers.get('x-svc-idempotent-replay')).toBe('true');
    await advanceRow(world.sql, row?.id, { type: 'carrier.ended', status: 'failed' });
    expect((await heir.place('rings')).body).toEqual(retried.body);
    lost.open();
    await answered;
    expect(await rowsOf(agent)).toHaveLength(1);
    expect([first.dialled.length, heir.dialled.length]).toEqual([1, 0]);
  });

  it('a repeated call request returns the failed call when the process that placed the call under its Idempotency-Key was lost', async () => {
    const agent = await world.agent();
    const asked = gate();
    await using first = await placing(agent, ({ carrier }) => ({
      carrier: {
        ...carrier,
        calls: {
          ...carrier.calls,
          dial: async () => {
            asked.open();
            return new Promise<never>(() => {});
          },
        },
      },
    }));
    await using heir = await placing(agent);
    first.place('ends').catch(() => {});
    await asked.opened;
    await first.lapse();
    const [row] = await rowsOf(agent);
    await world.due(row?.id);
    await world.sweep();
    expect(await heir.place('ends')).toMatchObject({
      status: 201,
      body: { callId: row?.id, status: 'failed' },
    });
    expect(heir.dialled).toEqual([]);
  });

  it('a call under an Idempotency-Key that was never written is placed anew, and by the second process alone', async () => {
    const agent = await world.agent();
    const reached = gate();
    const late = gate();
    await using first = await placing(agent, () => ({
      refusalOf: async () => {
        reached.open();
        await late.opened;
        return undefined;
      },
    }));
    await using heir = await placing(agent);
    const answered = first.place('unheld');
    await reached.opened;
    await first.lapse();
    expect((await heir.place('unheld')).status).toBe(201);
    late.open();
    expect((await answered).status).toBeGreaterThanOrEqual(400);
    expect(await rowsOf(agent)).toHaveLength(1);
    expect([first.dialled.length, heir.dialled.length]).toEqual([0, 1]);
  });

  it('a call under an Idempotency-Key is not dialled by a process that lost its claim between admission and row', async () => {
    const agent = await world.agent();
    const held = gate();
    const late = gate();
    await using first = await placing(agent, ({ ledger }) => ({
      ledger: {
        ...ledger,
        hold: async (request) => {
          const verdict = await ledger.hold(request);
          held.open();
          await late.opened;
          return verdict;
        },
      },
    }));
    await using heir = await placing(agent);
    const answered = first.place('held');
    await held.opened;
    await first.lapse();
    expect((await heir.place('held')).body).toMatchObject({ error: 'request_in_flight' });
    await heir.atOnce.tick();
    expect((await heir.place('held')).status).toBe(201);
    late.open();
    expect((await answered).body).toMatchObject({ error: 'call_failed' });
    expect((await rowsOf(agent)).map(({ status }) => status).sort()).toEqual(['failed', 'pending']);
    expect([first.dialled.length, heir.dialled.length]).toEqual([0, 1]);
    expect(await world.faults()).toEqual([]);
  });
});
