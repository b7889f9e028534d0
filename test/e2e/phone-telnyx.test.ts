import { generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TelnyxSim } from '../support/carrier-sim/telnyx/start-telnyx-sim.ts';
import {
  type CarrierWorld,
  expectUnansweredFree,
  soon,
  startTelnyxWorld,
  TO,
  talk,
} from '../support/carrier-world.ts';
import { phoneSpeech } from '../support/phone-speech.ts';
import { refusal } from '../support/web-socket-client.ts';
import { ask } from '../support/whole-world.ts';

let world: CarrierWorld<TelnyxSim>;
let question: Uint8Array;
beforeAll(async () => {
  world = await startTelnyxWorld({ server: { lineLostMs: 8_000 } });
  question = await phoneSpeech('What is my balance?');
});
afterAll(() => world[Symbol.asyncDispose]());

describe.concurrent('a call over Telnyx', () => {
  it('a call over Telnyx survives a broken socket, webhooks that are repeated, reordered and forged, and a failed hang-up', async () => {
    const faults = {
      dropsSocketAtMs: 800,
      duplicatesCallbacks: true,
      reordersCallbacks: true,
      forgesCallbacks: true,
      failsHangUps: 1,
    };
    const agent = await world.caller('unlucky', { faults });
    const callId = await agent.talking();
    await soon(() => expect(agent.lineOf().streams[1]?.isOpen).toBe(true));
    expect(await agent.endedHere(callId)).toMatchObject({ reason: 'agent_ended' });
    const posted = world.sim.posted.filter(
      ({ callControlId }) => callControlId === agent.lineOf().sid,
    );
    const forged = posted.filter(({ isForged }) => isForged);
    expect(forged.length).toBeGreaterThanOrEqual(3);
    for (const { status } of forged) expect(status).toBe(403);
  }, 120_000);

  it('a call over Telnyx without any status webhooks ends with its stream', async () => {
    const faults = { losesStatusCallbacks: true };
    const agent = await world.caller('unreported', { faults });
    const callId = await agent.talking();
    expect(await agent.endedThere(callId)).toMatchObject({ reason: 'call_ended' });
  }, 120_000);

  it.each(['busy', 'no-answer', 'failed'] as const)(
    'a call over Telnyx that is %s costs nothing',
    (answers) => expectUnansweredFree(world, answers),
    120_000,
  );
});

describe.concurrent('a stranger', () => {
  const BODY = '{"data":{"event_type":"call.hangup","payload":{"call_control_id":"v3:1"}}}';
  const now = () => String(Math.floor(Date.now() / 1_000));
  const post = (timestamp: string, signature: string, body = BODY) =>
    ask(`${world.url}/v1/telephony/telnyx/voice`, {
      headers: { 'telnyx-timestamp': timestamp, 'telnyx-signature-ed25519': signature },
      body,
    });

  it('a stranger with any of 20 forged signatures cannot report as Telnyx', async () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    const at = now();
    const good = world.sim.sign(at, BODY);
    const changed = (index: number) => {
      const bytes = Buffer.from(good, 'base64');
      bytes[index] = (bytes[index] ?? 0) ^ 1;
      return bytes.toString('base64');
    };
    const old = String(Number(at) - 400);
    const early = String(Number(at) + 400);
    const forged: readonly (readonly [string, string, string?])[] = [
      [at, ''],
      [at, 'AAAA'],
      [at, Buffer.alloc(64).toString('base64')],
      [at, sign(null, Buffer.from(`${at}|${BODY}`), other).toString('base64')],
      [at, world.sim.sign(at, `${BODY} `)],
      [at, world.sim.sign(at, BODY.replace('hangup', 'answered'))],
      [at, good, BODY.replace('hangup', 'answered')],
      [at, good, `${BODY}\n`],
      [at, good.replace(/=+$/, '')],
      [at, ` ${good}`.replace(' ', '=')],
      [at, world.sim.sign('', BODY)],
      [at, world.sim.sign(String(Number(at) - 1), BODY)],
      [old, world.sim.sign(old, BODY)],
      [early, world.sim.sign(early, BODY)],
      ['0', world.sim.sign('0', BODY)],
      ['now', world.sim.sign('now', BODY)],
      [`${at}.0`, world.sim.sign(`${at}.0`, BODY)],
      ...[0, 31, 63].map((index) => [at, changed(index)] as const),
    ];
    expect(forged).toHaveLength(20);
    for (const [timestamp, signature, body] of forged) {
      expect(await post(timestamp, signature, body)).toMatchObject({
        status: 403,
        body: { error: 'invalid_signature' },
      });
    }
    const unsigned = await ask(`${world.url}/v1/telephony/telnyx/voice`, { body: BODY });
    expect(unsigned.status).toBe(403);
    // The same request with its signature is read.
    expect((await post(at, good)).status).toBe(200);
  }, 120_000);

  it('a stranger without the token of the call opens no Telnyx media stream', async () => {
    const opens = async (path: string, headers: Record<string, string> = {}) =>
      (await refusal(`${world.wsUrl}${path}`, [], headers)).status;
    const media = '/v1/telephony/telnyx/media';
    const token = (value: string) => ({ 'x-telnyx-streaming-auth-token': value });
    const agent = await world.caller('guarded');
    const callId = await agent.talking();
    const started = world.sim.requests.find(
      ({ body, path }) =>
        path.at(-1) === 'streaming_start' && String(body.stream_url).includes(callId),
    );
    const good = String(started?.body.stream_auth_token);
    expect(await opens(media)).toBe(403);
    expect(await opens(`${media}?call=${callId}`)).toBe(403);
    expect(await opens(`${media}?call=${callId}`, token('A'.repeat(good.length)))).toBe(403);
    expect(await opens(`${media}?call=${callId}x`, token(good))).toBe(403);
    expect(await opens(media, token(good))).toBe(403);
    expect(await opens('/v1/telephony/twilio/media', token(good))).toBe(503);
    await agent.endedHere(callId);
  }, 120_000);
});

// One after the other: each takes a recogniser, and a second one would have to be loaded.
describe('a conversation over Telnyx', () => {
  it('a conversation over Telnyx is bought, dialled, heard in unordered frames, answered, and settled once', async () => {
    const agent = await world.caller('talker', { faults: { reordersFrames: true } });
    const callId = await agent.talking();
    await talk(agent.lineOf(), question);
    const receipt = await agent.endedThere(callId);
    expect(receipt).toMatchObject({ reason: 'call_ended', from: agent.phoneNumber, to: TO });
    expect(Number(receipt.sttRaw)).toBeGreaterThan(0);
    expect(Number(receipt.ttsRaw)).toBeGreaterThan(Math.ceil('Hello.'.length * 52.5));
    // All that was sent is what Telnyx plays.
    expect(agent.lineOf().streams.map(({ refusedChunks }) => refusedChunks)).toEqual([0]);
  }, 120_000);

  it('an inbound conversation over Telnyx in A-law is answered, and costs the inbound rate', async () => {
    const agent = await world.caller('answerer');
    const ringing = world.sim.ring(agent.phoneNumber, TO, {
      line: { encoding: 'PCMA', chunkMs: 60 },
    });
    await talk(ringing, question);
    ringing.hangUp();
    await agent.settledInbound();
  }, 120_000);
});
