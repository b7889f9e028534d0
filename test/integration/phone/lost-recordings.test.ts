import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallMoney } from '../../../src/phone/calls/call-money.ts';
import { findCall } from '../../../src/phone/calls/call-store.ts';
import type { FoundRecording } from '../../../src/phone/carriers/carrier.ts';
import { createCallRecorder } from '../../../src/phone/recordings/call-recorder.ts';
import { createRecordingKeeper } from '../../../src/phone/recordings/keep-recordings.ts';
import { findRecording } from '../../../src/phone/recordings/recording-store.ts';
import { createCallRecords } from '../../../src/phone/records/call-records.ts';
import { startCallWorld } from '../../support/call-world.ts';

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** A recording that has begun, of a call that ended so long ago. */
async function over(ago: string) {
  const agent = await world.agent();
  const { callId, carrierCallId } = await world.call(agent, { answered: true, isRecorded: true });
  const call = await findCall(world.sql, callId);
  if (call === undefined) throw new Error('the call was written');
  const until = (state: object) =>
    expect.poll(() => findRecording(world.sql, callId), { interval: 5 }).toMatchObject(state);
  const money = createCallMoney(world.deps, call, { taken: undefined, wallet: null });
  const recorder = createCallRecorder(world.deps, call, money);
  recorder.announced();
  await until({ beganMs: expect.any(Number) });
  await world.sql`update calls set status = 'completed', terminal = true, due_at = null,
    ended_at = now() - ${ago}::interval where id = ${callId}`;
  return {
    callId,
    recorder,
    recordingId: `RE${carrierCallId}`,
    until,
    finds: (said: FoundRecording) => world.recordings.found.set(carrierCallId, said),
    /** The keepers of two processes look at it. */
    async looks() {
      await world.sql`update call_recordings set due_at = now() where call_id = ${callId}`;
      const keeper = createRecordingKeeper(world.deps);
      await Promise.all([keeper.tick(), keeper.tick()]);
    },
    read: () => createCallRecords(world.deps).recording({ agentId: agent.agentId }, callId),
    deletes: () =>
      world.recordings.asked.filter(
        (what) => what.startsWith('delete') && what.includes(carrierCallId),
      ),
  };
}

async function readyEvents(callId: string) {
  return world.sql`
    select 1 from events where correlation_id = ${callId} and name = 'call.recording.ready'`;
}

const dueInMinutes = async (callId: string) => {
  const [row] = await world.sql<{ minutes: number | null }[]>`
    select extract(epoch from due_at - now())::float8 / 60 as minutes
    from call_recordings where call_id = ${callId}`;
  return row?.minutes;
};

describe('a recording whose callback never comes', () => {
  it('a recording whose callback never comes is looked up, reported once, and kept as long as any other', async () => {
    const { callId, deletes, finds, looks, read, recordingId, until } = await over('1 minute');
    expect(await dueInMinutes(callId)).toBeLessThanOrEqual(5);
    finds({ kind: 'unsure', recordingId });
    await looks();
    await until({ status: 'recording' });
    expect(await dueInMinutes(callId)).toBeCloseTo(5, 0);
    finds({ kind: 'whole', recordingId, durationSeconds: 9 });
    await looks();
    await until({ status: 'ready', carrierRecordingId: recordingId, durationSeconds: 9 });
    expect(await readyEvents(callId)).toHaveLength(1);
    expect(await read()).toBeDefined();
    expect(await dueInMinutes(callId)).toBeCloseTo(30 * 24 * 60, -1);
    await looks();
    expect(deletes()).toEqual([`delete ${recordingId}`]);
  });

  it("a recording whose start got no answer is found in the carrier's list for its call", async () => {
    const { callId, finds, looks, recordingId, until } = await over('1 minute');
    await world.sql`update call_recordings set status = 'failed', began_ms = null,
      carrier_recording_id = null where call_id = ${callId}`;
    finds({ kind: 'unsure', recordingId });
    await looks();
    await until({ status: 'failed', carrierRecordingId: recordingId });
    finds({ kind: 'whole', recordingId, durationSeconds: 9 });
    await looks();
    await until({ status: 'ready' });
  });

  it('a recording without consent is deleted at the carrier once the carrier has it, even if its callback never comes', async () => {
    const { callId, deletes, finds, looks, recorder, recordingId, until } = await over('1 minute');
    recorder.stop();
    await until({ status: 'stopped' });
    await world.sql`update call_recordings set carrier_recording_id = null where call_id = ${callId}`;
    await looks();
    await until({ status: 'stopped' });
    finds({ kind: 'whole', recordingId, durationSeconds: 9 });
    await looks();
    await looks();
    await until({ status: 'deleted', carrierRecordingId: recordingId });
    expect(deletes()).toEqual([`delete ${recordingId}`]);
    expect(await readyEvents(callId)).toEqual([]);
  });

  it.each([
    ['is not there', 'none', '59 minutes', 'recording', 'stopped'],
    ['was never made', 'none', '61 minutes', 'failed', 'deleted'],
    ['may be at the carrier', 'unsure', '29 days', 'recording', 'stopped'],
    ['may be there for ever', 'unsure', '31 days', 'failed', 'stopped'],
  ] as const)(
    'a recording without callback that %s (%s for %s) is %s with consent, or %s without',
    async (_, kind, ago, kept, refused) => {
      for (const status of [kept, refused]) {
        const { callId, finds, looks, read, recorder, until } = await over(ago);
        if (status === refused) {
          recorder.stop();
          await until({ status: 'stopped' });
        }
        finds({ kind });
        await looks();
        await until({ status });
        const isAskedAgain = ['59 minutes', '29 days'].includes(ago);
        const minutes = await dueInMinutes(callId);
        if (isAskedAgain) expect(minutes).toBeGreaterThan(10);
        else expect(minutes).toBeNull();
        const said = status === 'recording' ? 409 : 404;
        await expect(read()).rejects.toMatchObject({ status: said });
      }
    },
  );
});
