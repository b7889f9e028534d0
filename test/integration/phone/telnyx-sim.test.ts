import { describe, expect, it } from 'vitest';
import { parseWav } from '../../../media/wav.ts';
import { openTelnyx as open, telnyxOf } from '../../support/open-carrier.ts';
import { wholeOf } from '../../support/recorded-fetch.ts';

const soon = <T>(look: () => T) => expect.poll(look, { interval: 5 });

describe('a call of the simulated Telnyx', () => {
  it('a call of the simulated Telnyx plays all audio that was sent, and reports its price with its end', async () => {
    const { edge, placed, carrier } = await open({ speed: 5 });
    edge.onMedia = (event, { codec, send }) => {
      if (event.kind !== 'started') return;
      send(codec.media(Buffer.alloc(800, 0x11)));
      send(codec.mark('done'));
    };
    const call = await placed();
    await soon(() => edge.streams[0]?.events.some(({ kind }) => kind === 'mark')).toBe(true);
    await carrier.calls.hangUp(call.sid);
    await call.over;
    expect(call.stream?.refusedChunks).toBe(0);
    expect(edge.events.at(-1)).toMatchObject({
      kind: 'status',
      callId: 'CAours',
      durationSeconds: call.durationSeconds,
      priceRaw: 10_000n,
    });
  });

  it('a call of the simulated Telnyx reports that a machine has answered, and the end of its greeting', async () => {
    const { placed, edge } = await open({
      callee: () => ({ answers: 'machine_end_beep', recognisedAtMs: 100, hangsUpAtMs: 300 }),
    });
    const call = await placed({ detectsMachine: true });
    await call.over;
    const machines = edge.events.flatMap((e) => (e.kind === 'machine' ? [e.answeredBy] : []));
    expect(machines).toEqual(['machine_start', 'machine_end']);
  });

  it('a recording of the simulated Telnyx starts on demand, is found by its leg, and is gone once it is deleted', async () => {
    const { carrier, placed, edge } = await open();
    const call = await placed();
    await soon(() => edge.streams.length).toBe(1);
    const { calls } = carrier;
    const leg = { callId: 'CAours', carrierCallId: call.sid };
    expect(await calls.startRecording(leg)).toBe(call.sid);
    expect(await calls.findRecording(leg, null)).toMatchObject({ kind: 'none' });
    await calls.pauseRecording(leg);
    await calls.resumeRecording(leg);
    const beganMs = call.sinceAnswerMs();
    await soon(() => call.sinceAnswerMs() > beganMs + 500).toBe(true);
    await calls.stopRecording(leg);
    const recordings = () => edge.events.flatMap((e) => (e.kind === 'recording' ? [e] : []));
    await soon(() => recordings().length).toBe(1);
    const recordingId = recordings()[0]?.recordingId ?? '';
    expect(call.recording?.pauses).toBe(1);
    expect(await calls.findRecording(leg, null)).toMatchObject({ kind: 'whole', recordingId });
    const wav = parseWav(await wholeOf(await calls.fetchRecording(recordingId)));
    expect(wav).toMatchObject({ kind: 'parsed', channels: 2, coding: 'mulaw', truncated: false });
    await calls.deleteRecording(recordingId);
    expect(await calls.fetchRecording(recordingId)).toBeUndefined();
    await calls.deleteRecording(recordingId);
    call.hangUp();
    await call.over;
    expect(recordings()).toHaveLength(1);
  });

  it('a recording of the simulated Telnyx runs from its start command to its stop command', async () => {
    const { placed, edge, sim } = await open();
    const call = await placed();
    await soon(() => edge.streams.length).toBe(1);
    const command = (action: string) =>
      fetch(`${sim.baseUrl}/v2/calls/${encodeURIComponent(call.sid)}/actions/${action}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sim.apiKey}` },
        body: '{"format":"wav","channels":"dual"}',
      });
    expect((await command('record_start')).status).toBe(200);
    expect((await command('record_stop')).status).toBe(200);
    await soon(() => edge.events.some(({ kind }) => kind === 'recording')).toBe(true);
  });
});

describe('media of the simulated Telnyx', () => {
  it.each([
    ['PCMU', 'mulaw', 20, 1],
    ['PCMA', 'alaw', 60, 1],
    ['L16', 'linear16', 1_000, 2],
  ] as const)(
    'media of the simulated Telnyx comes in %s',
    async (encoding, format, chunkMs, bytesPerSample) => {
      const { placed, edge, heardHere } = await open({
        callee: () => ({ line: { encoding, chunkMs } }),
      });
      edge.onMedia = (event, { codec, send }) => {
        if (event.kind === 'started') send(codec.media(Buffer.alloc(1_600 * bytesPerSample, 0x55)));
      };
      const call = await placed();
      await soon(() => heardHere().length).toBeGreaterThan(1);
      await soon(() => call.heardBytes.length).toBe(1_600);
      const started = edge.streams[0]?.events.find(({ kind }) => kind === 'started');
      expect(started).toMatchObject({ format: { encoding: format, sampleRateHz: 8_000 } });
      const [first, second] = heardHere();
      expect(first?.bytes.length).toBe(chunkMs * 8 * bytesPerSample);
      expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBe(chunkMs);
      // What the far side hears is mu-law, whatever its line has.
      expect(call.stream?.refusedChunks).toBe(0);
    },
  );

  it('media of the simulated Telnyx comes in chunks of 30 seconds', async () => {
    const { placed, edge, heardHere } = await open({
      callee: () => ({ line: { chunkMs: 30_000 } }),
      speed: 100,
    });
    await placed();
    await soon(() => heardHere()[0]?.bytes.length).toBe(240_000);
    expect(edge.refused).toBe(0);
  });

  it('media of the simulated Telnyx comes in frames out of order, each with its time', async () => {
    const { placed, heardHere } = await open({ faults: { reordersFrames: true } });
    await placed();
    const times = () => heardHere().map(({ atMs }) => atMs);
    await soon(() => times().slice(0, 9)).toEqual([0, 20, 40, 100, 60, 80, 160, 120, 140]);
  });
});

describe('faults of the simulated Telnyx', () => {
  it('the simulated Telnyx sends webhooks twice, out of order and forged, and the forged ones are not believed', async () => {
    const { edge, placed, sim } = await open({
      faults: { duplicatesCallbacks: true, reordersCallbacks: true, forgesCallbacks: true },
    });
    const call = await placed();
    await soon(() => edge.streams.length).toBe(1);
    call.hangUp();
    await call.over;
    const kinds = edge.events.map(({ kind }) => kind);
    expect(kinds.indexOf('answered')).toBeLessThan(kinds.indexOf('status'));
    expect(kinds.filter((kind) => kind === 'answered').length).toBeGreaterThanOrEqual(2);
    // A command that comes twice begins one stream.
    expect(edge.streams).toHaveLength(1);
    const forged = sim.posted.filter(({ isForged }) => isForged);
    expect(forged.length).toBeGreaterThanOrEqual(4);
    expect(forged.map(({ status }) => status)).toEqual(forged.map(() => 403));
  });

  it('the simulated Telnyx identifies its customer', async () => {
    const { sim, outbound } = await open();
    const stranger = telnyxOf({ ...sim, apiKey: 'another key' }, outbound);
    await expect(stranger.calls.find('v3:1')).rejects.toMatchObject({
      kind: 'refused',
      code: '10009',
    });
  });
});
