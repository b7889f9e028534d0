import { afterAll, expect, it } from 'vitest';
import { createListeningPlaces } from '../../../src/engines/asr/listening-places.ts';
import { ENGINE_LIMITS } from '../../../src/engines/limits.ts';
import { ApiError } from '../../../src/kernel/api-error.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { CallDeps } from '../../../src/phone/calls/call-deps.ts';
import { advanceRow } from '../../../src/phone/calls/call-store.ts';
import { hearCarrier } from '../../../src/phone/calls/hear-carrier.ts';
import { createRecogniserPlaces } from '../../../src/phone/calls/opening/recogniser-places.ts';
import { placeCall } from '../../../src/phone/calls/place-call.ts';
import { receiveCall } from '../../../src/phone/calls/receive-call.ts';
import { createPlaceFreer } from '../../../src/phone/calls/sweep/free-places.ts';
import { PHONE_LIMITS } from '../../../src/phone/limits.ts';
import { startCallWorld } from '../../support/call-world.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const world = await startCallWorld();
afterAll(() => world[Symbol.asyncDispose]());

/** Calls at a recogniser with room for so many listeners. */
function roomFor(most: number) {
  const places = createListeningPlaces({ cores: 1, most });
  const recogniser = {
    takePlace: (isUnderWay = false) => (isUnderWay ? places.takeOver() : places.take('live')),
  };
  const dialled: string[] = [];
  const dial = async ({ callId }: { readonly callId: string }) => {
    dialled.push(callId);
    return { carrierCallId: `LB${callId}` };
  };
  const carrier = { ...world.deps.carrier, calls: { ...world.deps.carrier.calls, dial } };
  const room = createRecogniserPlaces({ clock: systemClock, recogniser });
  const deps: CallDeps = { ...world.deps, carrier, room, refusalOf: async () => undefined };
  return { deps, dialled, places };
}

type Agent = Awaited<ReturnType<typeof world.agent>>;

const order = ({ accountId, agentId }: Agent) => ({
  agentId,
  accountId,
  spender: {},
  to: '+14155550199',
  maxSpendRaw: undefined,
  detectsMachine: false,
  wantsReport: false,
  isRecorded: false,
});

/** What the ledger and the list of calls have of the agent. */
async function costOf({ agentId }: Agent): Promise<readonly unknown[]> {
  const [funds] = await world.deps.sql<{ held: bigint; consumed: bigint }[]>`
    select held_raw as held, consumed_raw as consumed from agent_funds where agent_id = ${agentId}`;
  const calls = await world.deps.sql`select 1 from calls where agent_id = ${agentId}`;
  return [funds?.held, funds?.consumed, calls.length];
}

it('of twenty calls placed at once, as many ring as can be transcribed, and the rest get 503 and cost nothing', async () => {
  const { deps, dialled, places } = roomFor(10);
  const agents: Agent[] = [];
  for (let nth = 0; nth < 20; nth++) agents.push(await world.agent());
  const outcomes = await Promise.allSettled(agents.map((agent) => placeCall(deps, order(agent))));
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect([dialled.length, places.taken, places.refused]).toEqual([10, 10, 10]);
  for (const error of refused) {
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 503, error: 'capacity' });
    expect(error.headers['retry-after']).toBe(String(ENGINE_LIMITS.decoder.retrySeconds));
  }
  for (const [nth, { status }] of outcomes.entries()) {
    if (status === 'rejected') expect(await costOf(agents[nth] as Agent)).toEqual([0n, 0n, 0]);
  }
});

it('an inbound call that cannot be transcribed hears busy, and its developer is told why', async () => {
  const { deps, places } = roomFor(0);
  places.takeOver();
  const agent = await world.agent();
  const ringing = { carrierCallId: 'LBfull', from: '+14155550177', to: agent.phoneNumber };
  expect(await receiveCall(deps, ringing)).toEqual({ kind: 'reject', reason: 'busy' });
  const [event] = await world.deps.sql<{ payload: { reason: string } }[]>`
    select payload from events where name = 'call.rejected' and account_id = ${agent.accountId}`;
  expect(event?.payload.reason).toBe('capacity');
});

it('an unanswered call gives its transcription slot back when the carrier reports its end', async () => {
  const { deps, places } = roomFor(1);
  const agent = await world.agent();
  const placed = await placeCall(deps, order(agent));
  expect(places.taken).toBe(1);
  await hearCarrier(deps, {
    kind: 'status',
    callId: placed.callId,
    carrierCallId: `LB${placed.callId}`,
    status: 'no-answer',
    sequence: 1,
    priceRaw: null,
  } as never);
  expect(places.taken).toBe(0);
});

it('a call whose end another process receives gives its transcription slot back at once, and a ringing call keeps it', async () => {
  const { deps, places } = roomFor(2);
  const freer = createPlaceFreer(deps);
  const over = await placeCall(deps, order(await world.agent()));
  const ringing = await placeCall(deps, order(await world.agent()));
  await freer.tick();
  expect(places.taken).toBe(2);
  await hearCarrier(world.deps, {
    kind: 'status',
    callId: over.callId,
    carrierCallId: `LB${over.callId}`,
    status: 'busy',
    sequence: 1,
    priceRaw: null,
  } as never);
  expect(places.taken).toBe(2);
  await freer.tick();
  expect([places.taken, deps.room?.kept]).toEqual([1, [ringing.callId]]);
  // Its caller is talked to at another process.
  await advanceRow(world.sql, ringing.callId, { type: 'media.opened' });
  await freer.tick();
  expect(places.taken).toBe(0);
});

it('a call keeps a transcription slot no longer than it may ring, and hands the slot to its media once', () => {
  const clock = new ManualClock();
  const places = createListeningPlaces({ cores: 1, most: 2 });
  const recogniser = {
    takePlace: (isOver = false) => (isOver ? places.takeOver() : places.take('live')),
  };
  const room = createRecogniserPlaces({ clock, recogniser });
  room.keep('CA1');
  room.keep('CA2');
  const place = room.take('CA1');
  expect(places.taken).toBe(2);
  clock.advance(PHONE_LIMITS.call.ringSeconds * 1_000 + PHONE_LIMITS.call.sweepGraceMs);
  expect(places.taken).toBe(1);
  place.release();
  // It was admitted by another process: its caller is there.
  room.keep('CA3');
  room.keep('CA4');
  room.take('CA2');
  expect(places.taken).toBe(3);
});
