import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallMoney } from '../../../src/phone/calls/call-money.ts';
import { findCall } from '../../../src/phone/calls/call-store.ts';
import { hearCarrier } from '../../../src/phone/calls/hear-carrier.ts';
import { RATE_CARD } from '../../../src/phone/rate-card.ts';
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

/** An answered call that is to be recorded, and a process that has its media. */
async function answeredCall(rates = RATE_CARD) {
  const agent = await world.agent();
  const { callId, carrierCallId } = await world.call(agent, {
    answered: true,
    isRecorded: true,
    rates,
  });
  const call = await findCall(world.sql, callId);
  if (call === undefined) throw new Error('the call was written');
  const process = () => {
    const money = createCallMoney(world.deps, call, { taken: undefined, wallet: null });
    return { money, recorder: createCallRecorder(world.deps, call, money) };
  };
  const recording = () => findRecording(world.sql, callId);
  const until = (state: object) => expect.poll(recording, { interval: 5 }).toMatchObject(state);
  const saved = () =>
    hearCarrier(world.deps, {
      kind: 'recording',
      carrierCallId,
      recordingId: `RE${carrierCallId}`,
      durationSeconds: 9,
    });
  const asked = () => world.recordings.asked.filter((what) => what.includes(carrierCallId));
  const read = () => createCallRecords(world.deps).recording({ agentId: agent.agentId }, callId);
  return { agent, asked, callId, carrierCallId, process, read, recording, saved, until };
}

async function readyEvents(callId: string) {
  const rows = await world.sql<{ payload: Record<string, unknown> }[]>`
    select payload from events where correlation_id = ${callId} and name = 'call.recording.ready'`;
  return rows.map(({ payload }) => payload);
}

const keeper = () => createRecordingKeeper(world.deps);
const isDue = (callId: string) =>
  world.sql`update call_recordings set due_at = now() where call_id = ${callId}`;

describe('the recording of a call', () => {
  it('a recording begins once, whichever process announced it', async () => {
    const { asked, carrierCallId, process, until } = await answeredCall();
    const [one, two] = [process(), process()];
    one.recorder.announced();
    two.recorder.announced();
    await until({ status: 'recording', carrierRecordingId: `RE${carrierCallId}` });
    await Promise.all([one.recorder.finish(), two.recorder.finish()]);
    expect(asked().filter((what) => what.startsWith('start'))).toHaveLength(1);
  });

  it('a recording is reported once, even if its callback comes twice, and can be fetched from then on', async () => {
    const { callId, carrierCallId, process, read, saved, until } = await answeredCall();
    const { money, recorder } = process();
    await expect(read()).rejects.toMatchObject({ status: 404 });
    recorder.announced();
    await until({ carrierRecordingId: `RE${carrierCallId}` });
    expect(money.recording.facts).toMatchObject({ status: 'recording' });
    await expect(read()).rejects.toMatchObject({ status: 409, error: 'recording_not_ready' });
    await Promise.all([saved(), saved()]);
    await saved();
    expect(await readyEvents(callId)).toEqual([
      {
        agentWalletAddress: null,
        callId,
        provider: 'loopback',
        recordingUrl: `https://phone.example/v1/calls/${callId}/recording`,
      },
    ]);
    const pieces: Uint8Array[] = [];
    for await (const piece of await read()) pieces.push(piece);
    expect(Buffer.concat(pieces).toString()).toBe(`RE${carrierCallId}`);
  });

  it('a recording that was never announced reads as absent, even if the carrier reports one', async () => {
    const { callId, read, recording, saved } = await answeredCall();
    await saved();
    expect(await recording()).toBeUndefined();
    expect(await readyEvents(callId)).toEqual([]);
    await expect(read()).rejects.toMatchObject({ status: 404 });
  });

  it('a recording that the carrier does not start costs nothing, and the call goes on', async () => {
    const { process, until } = await answeredCall({ ...RATE_CARD, recordingMinuteRaw: 60_000n });
    const { money, recorder } = process();
    world.recordings.fails = 1;
    recorder.announced();
    await until({ status: 'failed', beganMs: null });
    money.meter.charge({ lineSeconds: 60 });
    expect(money.meter.legs.transportRaw).toBe(14_700n);
    expect(money.recording.facts).toMatchObject({ status: 'failed' });
  });

  it('a recording that may have begun is paused and stopped all the same, and one that the carrier refused is not', async () => {
    for (const failure of ['away', 'refused'] as const) {
      const { asked, carrierCallId, process, until } = await answeredCall();
      const { recorder } = process();
      world.recordings.failure = failure;
      world.recordings.fails = 1;
      recorder.announced();
      await until({ status: 'failed' });
      await recorder.pause();
      recorder.resume();
      await recorder.finish();
      const followed = failure === 'away' ? ['pause', 'resume', 'stop'] : [];
      const steps = ['start', ...followed].map((step) => `${step} ${carrierCallId}`);
      expect(asked()).toEqual(steps);
    }
    world.recordings.failure = 'away';
  });

  it('a recording that was paused twice resumes only after both pauses are lifted', async () => {
    const { asked, carrierCallId, process } = await answeredCall();
    const { recorder } = process();
    recorder.announced();
    await Promise.all([recorder.pause(), recorder.pause()]);
    recorder.resume();
    await recorder.pause();
    recorder.resume();
    recorder.resume();
    await recorder.finish();
    const steps = ['start', 'pause', 'resume', 'stop'].map((step) => `${step} ${carrierCallId}`);
    expect(asked()).toEqual(steps);
  });

  describe('of a side that does not agree', () => {
    it('a recording without consent stops, is deleted at the carrier, and is never reported', async () => {
      const { asked, callId, carrierCallId, process, read, saved, until } = await answeredCall();
      const { money, recorder } = process();
      recorder.announced();
      await until({ beganMs: expect.any(Number) });
      recorder.stop();
      recorder.stop();
      await until({ status: 'stopped', carrierRecordingId: `RE${carrierCallId}` });
      await saved();
      expect(await readyEvents(callId)).toEqual([]);
      await expect(read()).rejects.toMatchObject({ status: 404 });
      await keeper().tick();
      await until({ status: 'deleted' });
      expect(asked()).toEqual([
        `start ${carrierCallId}`,
        `stop ${carrierCallId}`,
        `delete RE${carrierCallId}`,
      ]);
      expect(money.recording.facts).toMatchObject({ status: 'stopped' });
    });

    it('a recording never begins when it is stopped during the announcement', async () => {
      const { asked, process, recording } = await answeredCall();
      const { recorder } = process();
      recorder.stop();
      recorder.announced();
      await recorder.finish();
      expect(await recording()).toBeUndefined();
      expect(asked()).toEqual([]);
    });
  });

  it('a recording that is finished before the end of the call has a stop time, and is kept', async () => {
    const { process, recording, saved, until } = await answeredCall();
    const { recorder } = process();
    recorder.announced();
    await recorder.finish();
    expect((await recording())?.stoppedMs).toEqual(expect.any(Number));
    await saved();
    await until({ status: 'ready' });
  });

  it('a recording is deleted once after its retention time by any number of processes, and again after a carrier failure', async () => {
    const { asked, callId, process, read, saved, until } = await answeredCall();
    process().recorder.announced();
    await until({ beganMs: expect.any(Number) });
    await saved();
    await Promise.all([keeper().tick(), keeper().tick()]);
    await until({ status: 'ready' });
    await isDue(callId);
    world.recordings.fails = 1;
    await Promise.all([keeper().tick(), keeper().tick()]);
    await until({ status: 'ready' });
    await isDue(callId);
    await Promise.all([keeper().tick(), keeper().tick()]);
    await until({ status: 'deleted' });
    expect(asked().filter((what) => what.startsWith('delete'))).toHaveLength(2);
    await expect(read()).rejects.toMatchObject({ status: 404 });
  });
});

it('a call whose process was lost pays for its recording from its begin, and reports that it was announced', async () => {
  const { agent, callId, carrierCallId, process, until } = await answeredCall({
    ...RATE_CARD,
    recordingMinuteRaw: 6_000n,
  });
  process().recorder.announced();
  await until({ beganMs: expect.any(Number) });
  await world.sql`update call_recordings set began_ms = 20000 where call_id = ${callId}`;
  await world.loseProcess(callId);
  await world.record(carrierCallId, 'completed', 60);
  await world.due(callId);
  await world.sweep();
  expect(await world.ended(callId)).toMatchObject([
    {
      transportRaw: `${14_700n + 4_000n}`,
      recording: { consent: 'announced', status: 'recording', announcedAt: expect.any(String) },
    },
  ]);
  expect(agent.agentId).toBeGreaterThan(0);
  expect(await world.faults()).toEqual([]);
});
