import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Carrier, MediaEvent } from '../../../src/phone/carriers/carrier.ts';
import { createTwilio } from '../../../src/phone/carriers/twilio/twilio.ts';
import { createFetch } from '../../../src/platform/egress/fetch.ts';
import { AsteriskPeer, startBridge } from '../../support/asterisk-peer.ts';
import { type CarrierEdge, PUBLIC_URL, startCarrierEdge } from '../../support/carrier-edge.ts';
import { SIM_ACCOUNT } from '../../support/carrier-sim/options.ts';

const OURS = '+14155550100';
const CALLER = '+14155550199';
const { accountSid, authToken } = SIM_ACCOUNT;

let edge: CarrierEdge;
let bridge: Awaited<ReturnType<typeof startBridge>>;
let carrier: Carrier;
const outbound = createFetch();
beforeAll(async () => {
  edge = await startCarrierEdge(() => carrier);
  bridge = await startBridge({
    TWILIO_ACCOUNT_SID: accountSid,
    TWILIO_AUTH_TOKEN: authToken,
    PUBLIC_URL,
    SERVER_URL: edge.reach(PUBLIC_URL),
    NUMBERS: OURS,
  });
  const baseUrl = `http://127.0.0.1:${bridge.port}`;
  const account = { accountSid, authToken, baseUrl };
  carrier = createTwilio({ ...account, ...outbound, publicUrl: PUBLIC_URL });
});
afterAll(async () => {
  await outbound.abort();
  await bridge[Symbol.asyncDispose]();
  await edge[Symbol.asyncDispose]();
});

const soon = <T>(look: () => T) => expect.poll(look, { interval: 5, timeout: 5_000 });

/** A caller over Asterisk, and the stream of the call at the server. */
async function answered() {
  const before = edge.streams.length;
  const peer = new AsteriskPeer(bridge.port, { from: CALLER, to: OURS });
  onTestFinished(() => peer.hangUp());
  await soon(() => edge.streams[before]?.events.some(({ kind }) => kind === 'media')).toBe(true);
  const stream = edge.streams[before];
  if (stream === undefined) throw new Error('the server has no stream');
  const { codec, send } = stream;
  const of = <Kind extends MediaEvent['kind']>(wanted: Kind) =>
    stream.events.filter(
      (event): event is Extract<MediaEvent, { kind: Kind }> => event.kind === wanted,
    );
  const marks = () => of('mark').map(({ name }) => name);
  return { peer, stream, codec, send, of, marks };
}

describe('the bridge to Asterisk', () => {
  it('rings as Twilio does, with its signature, and carries sound, keys and marks in both directions', async () => {
    const { codec, marks, of, peer, send } = await answered();
    expect(edge.refused).toBe(0);
    expect(edge.events.at(-1)).toMatchObject({ kind: 'answered', from: CALLER, to: OURS });
    expect(of('started')).toMatchObject([{ format: { encoding: 'mulaw', sampleRateHz: 8_000 } }]);
    expect(peer.commands).toEqual(['ANSWER']);
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

  it('echoes every mark that waits at a flush, at once and once, because Asterisk forgets them', async () => {
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

  it('asks what to do when the stream ends, and hangs up where the server does', async () => {
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
    expect(first.peer.commands.at(-1)).toBe('HANGUP');
    await soon(() => edge.events.at(-1)).toMatchObject({ kind: 'status', status: 'completed' });
  });

  it('reports a caller who hangs up, and the call can be asked for afterwards', async () => {
    const { of, peer } = await answered();
    const carrierCallId = of('started')[0]?.carrierCallId ?? '';
    peer.hangUp();
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

  it('sells the numbers of the trunk once, and takes them back', async () => {
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

  it('takes no socket without its password, and no request without the token', async () => {
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
