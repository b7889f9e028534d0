import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Carrier, MediaEvent } from '../../../src/phone/carriers/carrier.ts';
import { createTwilio } from '../../../src/phone/carriers/twilio/twilio.ts';
import { createFetch } from '../../../src/platform/egress/fetch.ts';
import { startBridge } from '../../support/asterisk-peer.ts';
import { type CarrierEdge, PUBLIC_URL, startCarrierEdge } from '../../support/carrier-edge.ts';
import { SIM_ACCOUNT } from '../../support/carrier-sim/options.ts';
import { FakeAsterisk } from '../../support/fake-asterisk.ts';

const OURS = '+14155550100';
const ABROAD = '+4930901820';
const CALLER = '+14155550199';
const { accountSid, authToken } = SIM_ACCOUNT;

let edge: CarrierEdge;
let bridge: Awaited<ReturnType<typeof startBridge>>;
let carrier: Carrier;
const asterisk = new FakeAsterisk();
let recordings: string;
const outbound = createFetch();
beforeAll(async () => {
  recordings = await mkdtemp(join(tmpdir(), 'bridge-'));
  edge = await startCarrierEdge(() => carrier);
  bridge = await startBridge({
    TWILIO_ACCOUNT_SID: accountSid,
    TWILIO_AUTH_TOKEN: authToken,
    PUBLIC_URL,
    SERVER_URL: edge.reach(PUBLIC_URL),
    NUMBERS: `${OURS},${ABROAD}`,
    RECORDINGS: recordings,
    ...(await asterisk.settings()),
  });
  asterisk.bridgePort = bridge.port;
  await vi.waitFor(() => expect(asterisk.isHeard).toBe(true), 10_000);
  const baseUrl = `http://127.0.0.1:${bridge.port}`;
  const account = { accountSid, authToken, baseUrl };
  carrier = createTwilio({ ...account, ...outbound, publicUrl: PUBLIC_URL });
});
afterAll(async () => {
  await outbound.abort();
  await bridge[Symbol.asyncDispose]();
  await edge[Symbol.asyncDispose]();
  await asterisk[Symbol.asyncDispose]();
  await rm(recordings, { recursive: true });
});

const order = () => ({
  callId: 'CAours',
  from: OURS,
  to: CALLER,
  ringSeconds: 60,
  longestSeconds: 600,
  detectsMachine: false,
});

const soon = <T>(look: () => T) => expect.poll(look, { interval: 5, timeout: 5_000 });

/** A caller over Asterisk, and the stream of the call at the server. */
async function answered() {
  const before = edge.streams.length;
  const peers = asterisk.peers.length;
  const channel = asterisk.ring(CALLER, OURS);
  onTestFinished(() => asterisk.hangUp(channel));
  await soon(() => asterisk.peers.length).toBe(peers + 1);
  const peer = asterisk.peers[peers];
  if (peer === undefined) throw new Error('the call has sound');
  await soon(() => edge.streams[before]?.events.some(({ kind }) => kind === 'media')).toBe(true);
  const stream = edge.streams[before];
  if (stream === undefined) throw new Error('the server has no stream');
  const { codec, send } = stream;
  const of = <Kind extends MediaEvent['kind']>(wanted: Kind) =>
    stream.events.filter(
      (event): event is Extract<MediaEvent, { kind: Kind }> => event.kind === wanted,
    );
  const marks = () => of('mark').map(({ name }) => name);
  const carrierCallId = of('started')[0]?.carrierCallId ?? '';
  const leg = { callId: 'CAours', carrierCallId };
  return { channel, peer, stream, codec, send, of, marks, carrierCallId, leg };
}

describe('the bridge to Asterisk', () => {
  it('the bridge to Asterisk signs its callbacks as Twilio does, and carries audio, keys and marks in both directions', async () => {
    const { channel, codec, marks, of, peer, send } = await answered();
    const asked = asterisk.asked.map(({ path }) => path).filter((path) => path.includes(channel));
    expect(asked).toEqual([`/channels/${channel}/ring`, `/channels/${channel}/answer`]);
    expect(edge.refused).toBe(0);
    expect(edge.events.at(-1)).toMatchObject({ kind: 'answered', from: CALLER, to: OURS });
    expect(of('started')).toMatchObject([{ format: { encoding: 'mulaw', sampleRateHz: 8_000 } }]);
    peer.say(new Uint8Array(160).fill(0x2a));
    await soon(() => of('media').some(({ bytes }) => bytes.every((byte) => byte === 0x2a))).toBe(
      true,
    );
    peer.press('5');
    await soon(() => of('digit')).toEqual([{ kind: 'digit', digit: '5' }]);
    // Three pieces that fill no frame each, and together four frames less ten bytes.
    for (const length of [100, 130, 400]) send(codec.media(new Uint8Array(length).fill(0x11)));
    send(codec.mark('0.1'));
    await soon(marks).toEqual(['0.1']);
    await soon(() => peer.played.length).toBe(4);
    const heard = Buffer.concat(peer.played);
    expect(heard.filter((byte) => byte === 0x11)).toHaveLength(630);
    expect(peer.droppedBytes).toBe(0);
  });

  it('the bridge to Asterisk returns each pending mark once on a clear, because Asterisk forgets the marks', async () => {
    const { codec, marks, peer, send } = await answered();
    send(codec.media(new Uint8Array(16_000).fill(0x11)));
    for (const name of ['0.1', '0.2', '0.3']) send(codec.mark(name));
    await soon(() => peer.commands.filter((name) => name === 'MARK_MEDIA').length).toBe(3);
    expect(marks()).toEqual([]);
    send(codec.clear());
    await soon(marks).toEqual(['0.1', '0.2', '0.3']);
    expect(peer.queuedFrames).toBe(0);
    send(codec.mark('1.4'));
    await soon(marks).toEqual(['0.1', '0.2', '0.3', '1.4']);
  });

  it('the bridge to Asterisk requests instructions when the media stream ends, and hangs up when the server says so', async () => {
    const first = await answered();
    const before = edge.events.length;
    const streams = edge.streams.length;
    first.stream.socket.close();
    await soon(() => edge.streams.length).toBe(streams + 1);
    await soon(() => edge.events.slice(before)).toMatchObject([
      { kind: 'answered', isAgain: true },
    ]);
    edge.instruct = () => ({ kind: 'hang_up' });
    onTestFinished(() => {
      edge.instruct = (event) => ({ kind: 'stream', callId: event.callId ?? 'CAours' });
    });
    edge.streams.at(-1)?.socket.close();
    await soon(() => first.peer.isOver).toBe(true);
    expect(asterisk.causes.get(first.channel)).toBe(16);
    await soon(() => edge.events.at(-1)).toMatchObject({ kind: 'status', status: 'completed' });
  });

  it('the bridge to Asterisk reports that the caller hung up, and the ended call can still be read', async () => {
    const { carrierCallId, channel } = await answered();
    asterisk.hangUp(channel);
    await soon(() => edge.events.at(-1)).toMatchObject({
      kind: 'status',
      carrierCallId,
      status: 'completed',
      durationSeconds: expect.any(Number),
    });
    expect(await carrier.calls.find(carrierCallId)).toMatchObject({
      status: 'completed',
      durationSeconds: expect.any(Number),
      priceRaw: null,
    });
    expect(await carrier.calls.find('CAunknown')).toBeUndefined();
  });

  it.each([
    ['busy', 17],
    ['rejected', 21],
  ] as const)(
    'the bridge to Asterisk rejects a caller as %s with the matching hang-up cause, before the call is answered',
    async (reason, cause) => {
      edge.instruct = () => ({ kind: 'reject', reason });
      onTestFinished(() => {
        edge.instruct = (event) => ({ kind: 'stream', callId: event.callId ?? 'CAours' });
      });
      const channel = asterisk.ring(CALLER, OURS);
      await soon(() => asterisk.causes.get(channel)).toBe(cause);
      expect(asterisk.wasAsked('POST', `/channels/${channel}/ring`)).toBeDefined();
      expect(asterisk.wasAsked('POST', `/channels/${channel}/answer`)).toBeUndefined();
    },
  );

  it.each([
    [17, 'busy'],
    [21, 'busy'],
    [19, 'no-answer'],
    [18, 'no-answer'],
    [1, 'invalid'],
    [28, 'invalid'],
    [38, 'failed'],
  ])(
    'the bridge to Asterisk reports hang-up cause %i as %s, after the ringing',
    async (cause, status) => {
      asterisk.callee = () => ({ cause });
      onTestFinished(() => {
        asterisk.callee = () => ({ answers: true });
      });
      const { carrierCallId } = await carrier.calls.dial(order());
      const told = () =>
        edge.events.flatMap((event) =>
          event.kind === 'status' && event.carrierCallId === carrierCallId ? [event.status] : [],
        );
      await soon(told).toEqual(['ringing', status]);
    },
  );

  it('the bridge to Asterisk holds back a partial frame until the audio before it was played, so that speech has no gap', async () => {
    const { codec, peer, send } = await answered();
    // 1 s less ten bytes and then pieces of 100 ms less ten bytes, each long before the one before it was played.
    for (const bytes of [7_990, 790, 790, 790, 790]) {
      send(codec.media(new Uint8Array(bytes).fill(0x11)));
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    const heard = () => Buffer.concat(peer.played);
    await soon(() => heard().filter((byte) => byte === 0x11).length).toBe(11_150);
    expect(heard().subarray(heard().indexOf(0x11), heard().lastIndexOf(0x11) + 1)).toHaveLength(
      11_150,
    );
  });

  it('the bridge to Asterisk sends keys to the callee, and opens the media stream again', async () => {
    const { channel, leg } = await answered();
    const streams = edge.streams.length;
    await carrier.calls.sendDigits(leg, '12w#');
    await soon(() => edge.streams.length).toBe(streams + 1);
    const keys = asterisk.asked.filter(({ path }) => path === `/channels/${channel}/dtmf`);
    expect(keys.map(({ query }) => query.get('dtmf'))).toEqual(['12', '#']);
  });

  it('the bridge to Asterisk transfers a call by REFER, and reports the transfer as answered', async () => {
    const { channel, leg } = await answered();
    const before = edge.events.length;
    await carrier.calls.transfer(leg, { to: CALLER, longestSeconds: 60, whispers: false });
    await soon(() => edge.events.slice(before)).toMatchObject([
      { kind: 'transferred', callId: 'CAours' },
      { kind: 'status', status: 'completed' },
    ]);
    expect(asterisk.variables.get('REFER_TO')).toBe(CALLER);
    const sent = asterisk.wasAsked('POST', `/channels/${channel}/continue`);
    expect(sent?.query.get('context')).toBe('agent-refer');
  });

  it('the bridge to Asterisk resumes a call whose REFER fails, and reports the reason', async () => {
    asterisk.referOutcome = ['FAILURE', '486'];
    onTestFinished(() => {
      asterisk.referOutcome = undefined;
    });
    const { channel, leg, peer } = await answered();
    const [before, streams] = [edge.events.length, edge.streams.length];
    await carrier.calls.transfer(leg, { to: CALLER, longestSeconds: 60, whispers: false });
    await soon(() => edge.streams.length).toBe(streams + 1);
    expect(edge.events.slice(before)).toMatchObject([
      { kind: 'answered', isAgain: true, transferFailed: 'busy' },
    ]);
    expect(peer.isOver).toBe(false);
    expect(asterisk.causes.has(channel)).toBe(false);
  });

  it('the bridge to Asterisk records caller and callee in separate channels, with silence during a pause', async () => {
    const { codec, leg, peer, send } = await answered();
    const recordingId = await carrier.calls.startRecording(leg);
    peer.say(new Uint8Array(1_600).fill(0x2a));
    send(codec.media(new Uint8Array(1_600).fill(0x11)));
    await new Promise((resolve) => setTimeout(resolve, 500));
    await carrier.calls.pauseRecording(leg);
    expect(await carrier.calls.findRecording(leg, null)).toMatchObject({ kind: 'unsure' });
    await carrier.calls.resumeRecording(leg);
    await carrier.calls.stopRecording(leg);
    await soon(() => edge.events.at(-1)).toMatchObject({ kind: 'recording', recordingId });
    const found = await carrier.calls.findRecording(leg, null);
    expect(found).toMatchObject({ kind: 'whole', recordingId });
    const pieces: Uint8Array[] = [];
    for await (const piece of (await carrier.calls.fetchRecording(String(recordingId))) ?? []) {
      pieces.push(piece);
    }
    const wav = Buffer.concat(pieces);
    expect(wav.toString('latin1', 0, 4)).toBe('RIFF');
    const samples = new Int16Array(wav.buffer.slice(wav.byteOffset + 44));
    const side = (channel: number) =>
      samples.filter((sample, at) => at % 2 === channel && Math.abs(sample) > 50).length;
    expect([side(0), side(1)]).toEqual([1_600, 1_600]);
    await carrier.calls.deleteRecording(String(recordingId));
    expect(await carrier.calls.findRecording(leg, null)).toEqual({ kind: 'none' });
  });

  it('the bridge to Asterisk reports a machine when the callee talks on, if the call requests machine detection', async () => {
    const before = edge.events.length;
    const peers = asterisk.peers.length;
    const { carrierCallId } = await carrier.calls.dial({ ...order(), detectsMachine: true });
    await soon(() => asterisk.peers.length).toBe(peers + 1);
    asterisk.peers[peers]?.say(new Uint8Array(8_000 * 3).fill(0x00));
    await soon(() => edge.events.slice(before).filter(({ kind }) => kind === 'machine')).toEqual([
      { kind: 'machine', carrierCallId, answeredBy: 'machine_start' },
    ]);
    await carrier.calls.hangUp(carrierCallId);
  });

  it('the bridge to Asterisk streams silence for a call on hold, so that the server does not think the stream dead', async () => {
    const { channel, of } = await answered();
    asterisk.hold(channel, true);
    const before = of('media').length;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(of('media').length - before).toBeGreaterThan(20);
    asterisk.hold(channel, false);
  });

  it('the bridge to Asterisk retries a status callback that the server did not accept', async () => {
    const { channel, carrierCallId } = await answered();
    edge.failsStatuses = 2;
    asterisk.hangUp(channel);
    await soon(() => edge.events.at(-1)).toMatchObject({ carrierCallId, status: 'completed' });
    expect(edge.failsStatuses).toBe(0);
  });

  it('the bridge to Asterisk answers a caller whose channels Asterisk refuses to join twice', async () => {
    asterisk.refusesJoins = 2;
    const { of } = await answered();
    await soon(() => of('media').length).toBeGreaterThan(0);
    expect(asterisk.refusesJoins).toBe(0);
  });

  it('the bridge to Asterisk that reconnects to the events ends calls without a channel, and hangs up channels without a call', async () => {
    const gone = await answered();
    const kept = await answered();
    const stray = asterisk.leave(`bridge,in,${OURS}`);
    const foreign = asterisk.leave('voicemail,in,1');
    onTestFinished(() => asterisk.hangUp(foreign));
    asterisk.loseEvents(gone.channel);
    await soon(() => edge.events.at(-1)).toMatchObject({
      carrierCallId: gone.carrierCallId,
      status: 'completed',
    });
    await soon(() => asterisk.causes.has(stray)).toBe(true);
    expect([kept.channel, foreign].filter((id) => asterisk.causes.has(id))).toEqual([]);
    expect(kept.peer.isOver).toBe(false);
  });

  it('the bridge to Asterisk finds a number outside the United States when the search names that number', async () => {
    const found = await carrier.numbers.search({ phoneNumber: ABROAD, limit: 5 });
    expect(found.map(({ phoneNumber }) => phoneNumber)).toEqual([ABROAD]);
  });

  it('the bridge to Asterisk sells each number of the trunk once, and takes a returned number back', async () => {
    const { numbers } = carrier;
    const found = await numbers.search({ areaCode: '415', limit: 5 });
    expect(found.map(({ phoneNumber }) => phoneNumber)).toEqual([OURS]);
    const bought = await numbers.buy({ phoneNumber: OURS, purchaseId: 'num_1' });
    expect(await numbers.findPurchase('num_1')).toEqual(bought);
    await expect(numbers.buy({ phoneNumber: OURS, purchaseId: 'num_2' })).rejects.toMatchObject({
      kind: 'taken',
    });
    await numbers.release(bought.carrierNumberId);
    expect(await numbers.search({ areaCode: '415', limit: 5 })).toHaveLength(1);
  });

  it('the bridge to Asterisk refuses a socket without its password, and a request without the token', async () => {
    const stranger = await fetch(
      `http://127.0.0.1:${bridge.port}/2010-04-01/Accounts/x/Calls.json`,
    );
    expect(stranger.status).toBe(401);
    const { WebSocket } = await import('ws');
    const status = await new Promise((resolve) => {
      const socket = new WebSocket(`ws://127.0.0.1:${bridge.port}/media`, 'media');
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode));
      socket.on('error', () => {});
    });
    expect(status).toBe(401);
  });
});
