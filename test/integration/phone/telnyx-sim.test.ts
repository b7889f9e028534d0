import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseWav } from '../../../media/wav.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { Carrier } from '../../../src/phone/carriers/carrier.ts';
import { createTelnyx } from '../../../src/phone/carriers/telnyx/telnyx.ts';
import { createFetch } from '../../../src/platform/egress/fetch.ts';
import { PUBLIC_URL, startCarrierEdge } from '../../support/carrier-edge.ts';
import type { CarrierSimOptions } from '../../support/carrier-sim/options.ts';
import { startTelnyxSim } from '../../support/carrier-sim/telnyx/start-telnyx-sim.ts';
import { wholeOf } from '../../support/recorded-fetch.ts';

const OURS = '+14155550100';
const THEIRS = '+14155550199';
const WEBHOOK = `${PUBLIC_URL}/v1/telephony/telnyx/voice`;
const DIAL = {
  callId: 'CAours',
  from: OURS,
  to: THEIRS,
  ringSeconds: 30,
  longestSeconds: 600,
  detectsMachine: false,
};
const tone = (length: number, byte = 0x2a) => Buffer.alloc(length, byte);

const outbound = createFetch();
afterAll(() => outbound.abort());

/** Telnyx, the server that it calls, and a number that this server has bought. */
async function open(options: CarrierSimOptions & { readonly isLate?: boolean } = {}) {
  const parts: { carrier?: Carrier } = {};
  const edge = await startCarrierEdge(() => parts.carrier as Carrier);
  const sim = await startTelnyxSim({
    numbers: [OURS, '+14155550101', '+12125550100'],
    speed: 20,
    reach: edge.reach,
    webhookUrl: WEBHOOK,
    ...options,
  });
  const carrier = createTelnyx({
    ...sim,
    publicUrl: PUBLIC_URL,
    fetch: outbound.fetch,
    fetchStream: outbound.fetchStream,
    clock: systemClock,
  });
  parts.carrier = carrier;
  onTestFinished(async () => {
    await sim[Symbol.asyncDispose]();
    await edge[Symbol.asyncDispose]();
  });
  const bought = await carrier.numbers.buy({ phoneNumber: OURS, purchaseId: 'purchase-1' });
  const placed = async (change: Partial<typeof DIAL> = {}) => {
    const { carrierCallId } = await carrier.calls.dial({ ...DIAL, ...change });
    const call = sim.calls.find(({ sid }) => sid === carrierCallId);
    if (call === undefined) throw new Error('the carrier has no such call');
    return call;
  };
  const statuses = () =>
    edge.events.flatMap((event) => (event.kind === 'status' ? [event.status] : []));
  const heardHere = () =>
    (edge.streams[0]?.events ?? []).flatMap((e) => (e.kind === 'media' ? [e] : []));
  return { edge, sim, carrier, bought, placed, statuses, heardHere };
}

const soon = <T>(look: () => T) => expect.poll(look, { interval: 5 });

describe('numbers of the simulated Telnyx', () => {
  it('are ordered, sold once, found by their purchase and given back', async () => {
    const { carrier, sim, bought } = await open({ isLate: true });
    const found = await carrier.numbers.search({ areaCode: '415', limit: 5 });
    expect(found.map(({ phoneNumber }) => phoneNumber)).toEqual(['+14155550101']);
    const again = carrier.numbers.buy({ phoneNumber: OURS, purchaseId: 'purchase-2' });
    await expect(again).rejects.toMatchObject({ kind: 'taken', code: '85001' });
    expect(await carrier.numbers.findPurchase('purchase-1')).toEqual(bought);
    expect(await carrier.numbers.findPurchase('purchase-2')).toBeUndefined();
    await carrier.numbers.release(bought.carrierNumberId);
    await carrier.numbers.release(bought.carrierNumberId);
    expect(sim.owned).toEqual([]);
  });

  it('are found again where the answer to their order was lost', async () => {
    const { carrier, sim } = await open();
    sim.faults.losesPurchaseAnswers = 1;
    const buying = carrier.numbers.buy({ phoneNumber: '+12125550100', purchaseId: 'lost' });
    await expect(buying).rejects.toMatchObject({ kind: 'away' });
    expect(await carrier.numbers.findPurchase('lost')).toMatchObject({
      phoneNumber: '+12125550100',
    });
  });
});

describe('a call of the simulated Telnyx', () => {
  it('is reported, streamed, heard, measured and priced', async () => {
    const { edge, placed, carrier, statuses, heardHere } = await open({ speed: 5 });
    edge.onMedia = (event, { codec, send }) => {
      if (event.kind !== 'started') return;
      send(codec.media(tone(800, 0x11)));
      send(codec.mark('done'));
    };
    const call = await placed();
    await soon(() => edge.streams[0]?.events.some(({ kind }) => kind === 'mark')).toBe(true);
    await call.say(tone(1_000));
    const heard = () => Buffer.concat(heardHere().map(({ bytes }) => bytes));
    await soon(() => heard().includes(tone(1_000))).toBe(true);
    await carrier.calls.hangUp(call.sid);
    await call.over;
    expect(statuses()).toEqual(['ringing', 'completed', 'completed']);
    expect(edge.events.at(-1)).toMatchObject({
      kind: 'status',
      callId: 'CAours',
      durationSeconds: call.durationSeconds,
      priceRaw: 10_000n,
    });
    expect(call.heardBytes).toEqual(tone(800, 0x11));
    expect(call.stream?.refusedChunks).toBe(0);
    expect(edge.streams[0]?.events.slice(0, 2)).toMatchObject([
      { kind: 'ignored' },
      { kind: 'started', callId: 'CAours', carrierCallId: call.sid },
    ]);
    expect(edge.streams[0]?.events.at(-1)).toEqual({ kind: 'stopped' });
    expect(await carrier.calls.find(call.sid)).toEqual({
      carrierCallId: call.sid,
      status: 'completed',
      durationSeconds: call.durationSeconds,
      priceRaw: null,
    });
    // A call that is over is hung up without harm.
    await carrier.calls.hangUp(call.sid);
  });

  it.each([
    ['busy', 'busy'],
    ['no-answer', 'no-answer'],
    ['failed', 'failed'],
  ] as const)('that is %s never asks for instructions', async (answers, status) => {
    const { placed, statuses, edge } = await open({ callee: () => ({ answers }), speed: 500 });
    const call = await placed({ ringSeconds: 5 });
    await call.over;
    expect(statuses().at(-1)).toBe(status);
    expect(edge.events.some(({ kind }) => kind === 'answered')).toBe(false);
    expect(call.durationSeconds).toBe(0);
  });

  it('says that a machine has answered, and when its greeting is over', async () => {
    const { placed, edge } = await open({
      callee: () => ({ answers: 'machine_end_beep', recognisedAtMs: 100, hangsUpAtMs: 300 }),
    });
    const call = await placed({ detectsMachine: true });
    await call.over;
    const machines = edge.events.flatMap((e) => (e.kind === 'machine' ? [e.answeredBy] : []));
    expect(machines).toEqual(['machine_start', 'machine_end']);
  });

  it('is recorded on demand, found by its leg, and gone once it is deleted', async () => {
    const { carrier, placed, edge } = await open();
    const call = await placed();
    await soon(() => edge.streams.length).toBe(1);
    const { calls } = carrier;
    const leg = { callId: 'CAours', carrierCallId: call.sid };
    expect(await calls.startRecording(leg)).toBeUndefined();
    await calls.pauseRecording(leg);
    await calls.resumeRecording(leg);
    const beganMs = call.sinceAnswerMs();
    await soon(() => call.sinceAnswerMs() > beganMs + 500).toBe(true);
    await calls.stopRecording(leg);
    const recordings = () => edge.events.flatMap((e) => (e.kind === 'recording' ? [e] : []));
    await soon(() => recordings().length).toBe(1);
    const recordingId = recordings()[0]?.recordingId ?? '';
    expect(call.recording?.pauses).toBe(1);
    const wav = parseWav(await wholeOf(await calls.fetchRecording(recordingId)));
    expect(wav).toMatchObject({ kind: 'parsed', channels: 2, coding: 'mulaw', truncated: false });
    await calls.deleteRecording(recordingId);
    expect(await calls.fetchRecording(recordingId)).toBeUndefined();
    await calls.deleteRecording(recordingId);
    call.hangUp();
    await call.over;
    expect(recordings()).toHaveLength(1);
  });

  it('comes from outside, without an id of ours, and has one once it is answered', async () => {
    const { sim, edge } = await open();
    const call = sim.ring(OURS, THEIRS);
    await soon(() => edge.streams[0]?.events.length ?? 0).toBeGreaterThan(2);
    call.hangUp();
    await call.over;
    expect(edge.events[0]).toEqual({
      kind: 'answered',
      callId: undefined,
      carrierCallId: call.sid,
      from: THEIRS,
      to: OURS,
      isAgain: false,
    });
    expect(edge.streams[0]?.events[1]).toMatchObject({ kind: 'started', callId: 'CAours' });
    expect(edge.events).toContainEqual(
      expect.objectContaining({ kind: 'status', callId: 'CAours', status: 'completed' }),
    );
  });

  it('that is refused was never answered', async () => {
    const { sim, edge } = await open();
    edge.instruct = () => ({ kind: 'reject', reason: 'busy' });
    const call = sim.ring(OURS, THEIRS);
    await call.over;
    expect(call).toMatchObject({ status: 'busy', isAnswered: false, durationSeconds: 0 });
  });

  it('is streamed again when its stream breaks, with the same id', async () => {
    const { placed, edge, carrier } = await open({ faults: { dropsSocketAtMs: 100 } });
    const call = await placed();
    await soon(() => edge.streams.length).toBe(2);
    expect(edge.events.filter(({ kind }) => kind === 'answered')).toMatchObject([
      { callId: 'CAours', isAgain: false },
      { callId: 'CAours', isAgain: true },
    ]);
    await carrier.calls.hangUp(call.sid);
    await call.over;
  });

  it('hears digits in both directions, beside one stream', async () => {
    const { placed, edge, carrier } = await open({
      callee: () => ({ presses: [{ atMs: 100, digit: '7' }] }),
    });
    const call = await placed();
    await soon(() => edge.streams[0]?.events.find(({ kind }) => kind === 'digit')).toEqual({
      kind: 'digit',
      digit: '7',
    });
    await carrier.calls.sendDigits({ callId: 'CAours', carrierCallId: call.sid }, '12#');
    await soon(() => call.digitsHeard).toEqual(['12#']);
    expect(edge.streams).toHaveLength(1);
  });

  it.each([
    ['busy', 2],
    ['human', 1],
  ] as const)('is transferred to one that is %s', async (answers, streams) => {
    const { placed, edge, carrier } = await open({
      callee: ({ to }) => (to === '+13105550100' ? { answers, hangsUpAtMs: 100 } : {}),
    });
    const call = await placed();
    await soon(() => edge.streams.length).toBe(1);
    await carrier.calls.transfer({ callId: 'CAours', carrierCallId: call.sid }, '+13105550100');
    if (streams === 2) await soon(() => edge.streams.length).toBe(2);
    else await call.over;
    expect(edge.streams).toHaveLength(streams);
    expect(call.transfers).toHaveLength(1);
  });

  it('is recorded from when it is told to until it is told to stop', async () => {
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
  ] as const)('comes in %s', async (encoding, format, chunkMs, bytesPerSample) => {
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
  });

  it('comes in chunks of 30 seconds', async () => {
    const { placed, edge, heardHere } = await open({
      callee: () => ({ line: { chunkMs: 30_000 } }),
      speed: 100,
    });
    await placed();
    await soon(() => heardHere()[0]?.bytes.length).toBe(240_000);
    expect(edge.refused).toBe(0);
  });

  it('comes in frames that overtake each other, each with its time', async () => {
    const { placed, heardHere } = await open({ faults: { reordersFrames: true } });
    await placed();
    const times = () => heardHere().map(({ atMs }) => atMs);
    await soon(() => times().slice(0, 9)).toEqual([0, 20, 40, 100, 60, 80, 160, 120, 140]);
  });
});

describe('faults of the simulated Telnyx', () => {
  it('sends webhooks twice, in another order, and forged ones that nothing believes', async () => {
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

  it('has media without callbacks, and callbacks without media', async () => {
    const silent = await open({
      faults: { losesStatusCallbacks: true },
    });
    const unreported = await silent.placed();
    await soon(() => silent.edge.streams.length).toBe(1);
    unreported.hangUp();
    await unreported.over;
    expect(silent.statuses()).toEqual([]);
    expect(silent.edge.streams).toHaveLength(1);
    const deaf = await open({
      callee: () => ({ hangsUpAtMs: 200 }),
      faults: { opensNoStream: true },
    });
    await (await deaf.placed()).over;
    expect(deaf.statuses()).toContain('completed');
    expect(deaf.edge.streams).toHaveLength(0);
  });

  it('refuses to end a call for a while, and loses the answer to a dial', async () => {
    const { placed, carrier, sim, edge, statuses } = await open();
    const call = await placed();
    await soon(() => edge.streams.length).toBe(1);
    sim.faults.failsHangUps = 1;
    await expect(carrier.calls.hangUp(call.sid)).rejects.toMatchObject({ kind: 'away' });
    expect(call.isOver).toBe(false);
    await carrier.calls.hangUp(call.sid);
    expect(call.isOver).toBe(true);
    sim.faults.losesDialAnswers = 1;
    await expect(placed()).rejects.toMatchObject({ kind: 'away' });
    expect(sim.calls).toHaveLength(2);
    await soon(() => statuses().filter((status) => status === 'ringing').length).toBe(2);
  });

  it('knows its customer', async () => {
    const { sim } = await open();
    const stranger = createTelnyx({
      ...sim,
      apiKey: 'another key',
      publicUrl: PUBLIC_URL,
      fetch: outbound.fetch,
      fetchStream: outbound.fetchStream,
      clock: systemClock,
    });
    await expect(stranger.calls.find('v3:1')).rejects.toMatchObject({
      kind: 'refused',
      code: '10009',
    });
  });
});
