import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallDeps } from '../../../src/phone/calls/call-deps.ts';
import { createCalls } from '../../../src/phone/calls/calls.ts';
import { hearCarrier } from '../../../src/phone/calls/hear-carrier.ts';
import { CarrierFailed } from '../../../src/phone/carriers/carrier.ts';
import { createDialPacer } from '../../../src/phone/dialling/dial-pacer.ts';
import { startCallWorld } from '../../support/call-world.ts';
import { ManualClock } from '../../support/manual-clock.ts';

type World = Awaited<ReturnType<typeof startCallWorld>>;

let world: World;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** A process whose carrier answers a dial as a test says. */
function calling(
  dial: (callId: string) => Promise<string>,
  pace?: { readonly perSecond: number; readonly longestWaitMs: number },
) {
  const clock = new ManualClock();
  const calls = {
    ...world.deps.carrier.calls,
    dial: async ({ callId }: { callId: string }) => ({ carrierCallId: await dial(callId) }),
  };
  const deps: CallDeps = {
    ...world.deps,
    refusalOf: async () => undefined,
    carrier: { ...world.deps.carrier, calls },
    dials: pace && createDialPacer({ clock, ...pace }),
  };
  return { clock, deps, ...createCalls(deps) };
}

const order = (agent: Awaited<ReturnType<World['agent']>>) => ({
  ...agent,
  spender: {},
  to: '+14155550199',
  maxSpendRaw: undefined,
  detectsMachine: false,
  wantsReport: false,
  isRecorded: false,
});

const rowsOf = ({ agentId }: { agentId: number }) =>
  world.sql<
    { id: string; status: string; terminal: boolean; end_reason: string | null }[]
  >`select id, status, terminal, end_reason from calls where agent_id = ${agentId} order by created_at`;

describe('a call whose carrier does not answer', () => {
  it('a call whose dial gets no carrier response is named in the error, and its hang-up is sent once the carrier reports it', async () => {
    const agent = await world.agent();
    const { deps, hangUp, place, read } = calling(async () => {
      throw new CarrierFailed('away', 'no answer');
    });
    const refused = await place(order(agent)).catch((error: unknown) => error);
    const [row] = await rowsOf(agent);
    const callId = row?.id ?? '';
    expect(refused).toMatchObject({ status: 502, error: 'call_failed', fields: { callId } });
    expect(String((refused as { fields: { message: unknown } }).fields.message)).toContain(
      'may ring',
    );
    expect(await read(agent.agentId, callId)).toMatchObject({ status: 'pending', terminal: false });
    await hangUp(agent, callId);
    const carrierCallId = `LB${callId}`;
    const heard = { callId, carrierCallId, durationSeconds: null, priceRaw: null } as const;
    await hearCarrier(deps, { kind: 'status', status: 'ringing', sequence: 1, ...heard });
    expect(world.hungUp).toContain(carrierCallId);
    await hearCarrier(deps, { kind: 'status', status: 'canceled', sequence: 2, ...heard });
    expect(await rowsOf(agent)).toMatchObject([{ status: 'pending', terminal: true }]);
  });

  it('a call that is hung up during its dial is hung up at the carrier as soon as the carrier responds', async () => {
    const agent = await world.agent();
    const { hangUp, place } = calling(async (callId) => {
      await hangUp(agent, callId);
      return `LB${callId}`;
    });
    const { callId } = await place(order(agent));
    expect(world.hungUp).toContain(`LB${callId}`);
  });
});

describe('a call that waits for its turn at the carrier', () => {
  it('a call in the dial queue counts as a live call, can be hung up, and then rings nobody', async () => {
    const agent = await world.agent();
    const dialled: string[] = [];
    const { hangUp, place } = calling(
      async (callId) => {
        dialled.push(callId);
        return `LB${callId}`;
      },
      { perSecond: 0.1, longestWaitMs: 60_000 },
    );
    const first = await place(order(agent));
    const waiting = place(order(agent));
    const other = place(order(agent));
    await expect.poll(async () => (await rowsOf(agent)).length, { interval: 5 }).toBe(3);
    await expect(place(order(agent))).rejects.toMatchObject({ error: 'call_limit' });
    for (const { id } of (await rowsOf(agent)).slice(1)) {
      expect(await hangUp(agent, id)).toMatchObject({ status: 'ending' });
    }
    expect(await Promise.all([waiting, other])).toMatchObject([
      { status: 'pending' },
      { status: 'pending' },
    ]);
    expect(dialled).toEqual([first.callId]);
    expect((await rowsOf(agent)).slice(1)).toMatchObject([
      { status: 'pending', terminal: true, end_reason: 'agent_ended' },
      { status: 'pending', terminal: true, end_reason: 'agent_ended' },
    ]);
  });

  it('a call in the dial queue is refused after its maximum wait or when the queue is full, and never rings', async () => {
    const agent = await world.agent();
    const pace = { perSecond: 0.01, longestWaitMs: 10_000 };
    const { clock, place } = calling(async (callId) => `LB${callId}`, pace);
    await place(order(agent));
    const refused = {
      status: 429,
      error: 'dial_limit',
      fields: { limit: 0.01 },
      headers: { 'retry-after': expect.any(String), 'x-should-retry': 'true' },
    };
    const late = expect(place(order(agent))).rejects.toMatchObject(refused);
    await expect.poll(async () => (await rowsOf(agent)).length, { interval: 5 }).toBe(2);
    await expect(place(order(agent))).rejects.toMatchObject(refused);
    clock.advance(10_000);
    await late;
    expect(await rowsOf(agent)).toMatchObject([
      { terminal: false },
      { terminal: true, status: 'pending', end_reason: 'dial_canceled' },
    ]);
  });
});
