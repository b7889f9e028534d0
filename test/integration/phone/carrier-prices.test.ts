import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/http/server/metrics.ts';
import type { Log } from '../../../src/kernel/log.ts';
import { advanceRow } from '../../../src/phone/calls/call-store.ts';
import { askCarrierPrices } from '../../../src/phone/carrier-prices/ask-prices.ts';
import { createPriceMetrics } from '../../../src/phone/carrier-prices/price-metrics.ts';
import type { Carrier } from '../../../src/phone/carriers/carrier.ts';
import { createFetch } from '../../../src/platform/egress/fetch.ts';
import { startCallWorld } from '../../support/call-world.ts';
import { type CarrierEdge, startCarrierEdge } from '../../support/carrier-edge.ts';
import { type CarrierSim, startCarrierSim } from '../../support/carrier-sim/start-carrier-sim.ts';
import { twilioOf } from '../../support/open-carrier.ts';

/** A call of the simulated carrier costs 14,000 raw for each minute that began. */
const MINUTE_RAW = 14_000n;
const DIAL = { from: '+14155550100', ringSeconds: 30, longestSeconds: 600 };

let world: Awaited<ReturnType<typeof startCallWorld>>;
let sim: CarrierSim;
let edge: CarrierEdge;
let carrier: Carrier;
const outbound = createFetch();
beforeAll(async () => {
  world = await startCallWorld();
  edge = await startCarrierEdge(() => carrier);
  sim = await startCarrierSim({
    numbers: [DIAL.from],
    speed: 20,
    reach: edge.reach,
    faults: { priceDelayMs: 3_600_000 },
  });
  carrier = twilioOf(sim, outbound);
  await carrier.numbers.buy({ phoneNumber: DIAL.from, purchaseId: 'prices' });
});
beforeEach(() => {
  sim.faults.priceDelayMs = 3_600_000;
});
afterAll(async () => {
  await outbound.abort();
  await sim[Symbol.asyncDispose]();
  await edge[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** An answered call that is over and was charged so much for its line; it lasted as long as the carrier says, or as given. */
async function endedCall(transportRaw: bigint, givenSeconds?: number): Promise<string> {
  const { callId } = await world.call(await world.agent(), { answered: true });
  const dial = { ...DIAL, callId, to: '+14155550199', detectsMachine: false, records: false };
  const { carrierCallId } = await carrier.calls.dial(dial);
  const call = sim.calls.find(({ sid }) => sid === carrierCallId);
  await expect.poll(() => call?.streams.length, { interval: 5 }).toBe(1);
  await carrier.calls.hangUp(carrierCallId);
  await call?.over;
  const durationSeconds = givenSeconds ?? call?.durationSeconds ?? 0;
  await world.sql`
    update calls set carrier = 'twilio', carrier_call_id = ${carrierCallId} where id = ${callId}`;
  await advanceRow(
    world.sql,
    callId,
    { type: 'session.ended', reason: 'call_ended' },
    { durationSeconds, legs: { transportRaw, sttRaw: 0n, ttsRaw: 0n }, isBackstop: false },
  );
  return callId;
}

/** Two processes, what they have logged together, and what they have counted together. */
function twoProcesses() {
  const warned: Record<string, unknown>[] = [];
  const log = { warn: (fields: object) => void warned.push({ ...fields }) } as unknown as Log;
  const registry = createMetrics({ withProcess: false });
  const metrics = createPriceMetrics(registry);
  const workers = [1, 2].map(() => askCarrierPrices({ sql: world.sql, log, carrier, metrics }));
  return {
    warned,
    tick: () => Promise.all(workers.map((worker) => worker.tick())),
    async counted(name: string): Promise<number> {
      const line = (await registry.render()).split('\n').find((each) => each.startsWith(name));
      return Number(line?.split(' ').at(-1) ?? 0);
    },
  };
}

const due = (callId: string) =>
  world.sql`update calls set price_due_at = now() where id = ${callId}`;

/** How long until the carrier is asked again; null: it is not. */
async function dueInMs(callId: string): Promise<number | null> {
  const [row] = await world.sql<{ ms: number | null }[]>`
    select (extract(epoch from price_due_at - now()) * 1000)::float8 as ms
    from calls where id = ${callId}`;
  return row?.ms ?? null;
}

/** What the developer was told of a call whose carrier says something else. */
async function tripped(callId: string) {
  const rows = await world.sql<{ payload: Record<string, unknown> }[]>`
    select payload from events
    where correlation_id = ${callId} and name = 'marketplace.tripwire.triggered' order by id`;
  return rows.map(({ payload }) => payload);
}

const about = (ms: number) => expect.closeTo(ms / 10_000, 0);

describe('the price of a carrier', () => {
  it("the carrier's price is read a minute after the end, retried while it is missing, and compared once over two processes", async () => {
    const { counted, tick, warned } = twoProcesses();
    const callId = await endedCall(MINUTE_RAW + 700n);
    expect(((await dueInMs(callId)) ?? 0) / 10_000).toEqual(about(60_000));
    await due(callId);
    await tick();
    expect(await world.row(callId)).toMatchObject({ carrier_price_raw: null });
    await world.sql`update calls set ended_at = now() - interval '1 hour' where id = ${callId}`;
    await due(callId);
    await tick();
    expect(((await dueInMs(callId)) ?? 0) / 10_000).toEqual(about(3_600_000));
    sim.faults.priceDelayMs = 0;
    await due(callId);
    await tick();
    await tick();
    expect(await world.row(callId)).toMatchObject({
      carrier_price_raw: MINUTE_RAW,
      price_due_at: null,
      transport_raw: MINUTE_RAW + 700n,
    });
    expect(await counted('svc_carrier_prices{outcome="covered"}')).toBe(1);
    expect(await counted('svc_carrier_margin_raw')).toBe(700);
    expect(warned).toEqual([]);
    expect(await tripped(callId)).toEqual([]);
  });

  it('a carrier price above the charge, or another duration, is reported once to operator and developer, and no agent is charged', async () => {
    sim.faults.priceDelayMs = 0;
    const { counted, tick, warned } = twoProcesses();
    const callId = await endedCall(245n, 30);
    await world.sql`update agents set wallet_address = '0xAB01'
      where id = (select agent_id from calls where id = ${callId})`;
    const charged = () => world.sql`select count(*)::int as n, sum(cost_raw) from charges`;
    const before = [...(await charged())];
    await due(callId);
    await tick();
    const told = {
      callId,
      carrier: 'twilio',
      chargedRaw: '245',
      carrierPriceRaw: '14000',
      excessRaw: '13755',
      durationSeconds: 30,
    };
    expect(warned).toMatchObject([told, told]);
    expect(await counted('svc_carrier_prices{outcome="exceeded"}')).toBe(1);
    expect(await counted('svc_carrier_excess_raw')).toBe(13_755);
    expect(await counted('svc_carrier_durations_off')).toBe(1);
    const { carrierSeconds } = warned[0] ?? {};
    const named = { callId, agentWalletAddress: '0xab01' };
    expect(await tripped(callId)).toEqual([
      { ...named, tripwire: 'carrier_price', expected: '245', observed: '14000' },
      { ...named, tripwire: 'carrier_duration', expected: '30', observed: `${carrierSeconds}` },
    ]);
    expect([...(await charged())]).toEqual(before);
    expect(await world.faults()).toEqual([]);
  });

  it("the carrier's price is not stored when its event cannot be, and is read from the carrier again", async () => {
    sim.faults.priceDelayMs = 0;
    const { counted, tick, warned } = twoProcesses();
    const callId = await endedCall(245n, 30);
    await world.sql`alter table events add constraint no_tripwires
      check (name <> 'marketplace.tripwire.triggered') not valid`;
    await due(callId);
    await tick();
    await world.sql`alter table events drop constraint no_tripwires`;
    expect(await world.row(callId)).toMatchObject({ carrier_price_raw: null });
    expect(await dueInMs(callId)).not.toBeNull();
    expect(await counted('svc_carrier_prices{outcome="exceeded"}')).toBe(0);
    warned.length = 0;
    await due(callId);
    await tick();
    expect(await tripped(callId)).toHaveLength(2);
    expect(warned).toHaveLength(2);
  });

  it('a carrier price from a callback is compared, even if the carrier does not return the price any more', async () => {
    const { counted, tick } = twoProcesses();
    const callId = await endedCall(9_000n);
    await world.sql`update calls set carrier_price_raw = 8000 where id = ${callId}`;
    await due(callId);
    await tick();
    expect(await world.row(callId)).toMatchObject({
      carrier_price_raw: 8_000n,
      price_due_at: null,
    });
    expect(await counted('svc_carrier_margin_raw')).toBe(1_000);
  });

  it('a carrier price that never comes is given up after a day', async () => {
    const { counted, tick } = twoProcesses();
    const callId = await endedCall(245n);
    await world.sql`update calls set ended_at = now() - interval '24 hours' where id = ${callId}`;
    await due(callId);
    await tick();
    expect(await world.row(callId)).toMatchObject({ carrier_price_raw: null, price_due_at: null });
    expect(await counted('svc_carrier_prices{outcome="unknown"}')).toBe(1);
  });

  it("the carrier's price of an unanswered call is never read", async () => {
    const { callId } = await world.call(await world.agent());
    await advanceRow(world.sql, callId, { type: 'carrier.ended', status: 'busy' });
    expect(await dueInMs(callId)).toBeNull();
  });
});
