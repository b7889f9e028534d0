import twilio from 'twilio';
import { expect, it } from 'vitest';
import { ok, route } from '../../../src/http/route/route.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { CallDeps } from '../../../src/phone/calls/call-deps.ts';
import { createCarrierHooks } from '../../../src/phone/calls/calls.ts';
import type { Carrier } from '../../../src/phone/carriers/carrier.ts';
import { createTwilioCallbacks } from '../../../src/phone/carriers/twilio/callbacks.ts';
import { hooksOf } from '../../../src/phone/carriers/twilio/hooks.ts';
import type { RateLimits } from '../../../src/rate-limit/rate-gate.ts';
import { carrierCallback } from '../../../src/routes/telephony/callback.ts';
import { createCarrierMediaSocket } from '../../../src/sockets/carrier-media.ts';
import { clientAt } from '../../support/ask-from.ts';
import { startEdge } from '../../support/edge.ts';
import { refusal, TestSocket } from '../../support/web-socket-client.ts';

const TOKEN = 'token';
const ORIGIN = 'https://voice.example';
const PATH = '/v1/telephony/twilio/status';
const STRANGER = '127.0.0.2';
const CARRIER = '127.0.0.3';

const markets = route()({
  method: 'GET',
  path: '/v1/markets',
  credential: 'none',
  summary: 'test',
  handle: () => ok({ markets: [] }),
});

/** The routes of a server whose carrier is Twilio; what Twilio says is of no interest to the server. */
function startCarrierEdge(rateLimits: Partial<RateLimits>) {
  const callbacks = createTwilioCallbacks({ authToken: TOKEN, hooks: hooksOf(ORIGIN) });
  const carrier: Partial<Carrier> = { name: 'twilio', callbacks, openMedia: () => CODEC };
  const carrierHooks = createCarrierHooks({ carrier } as CallDeps);
  return startEdge({
    routes: [markets, carrierCallback],
    sockets: [createCarrierMediaSocket(carrierHooks, { clock: systemClock, publicOrigin: ORIGIN })],
    services: { carrierHooks, publicOrigin: ORIGIN },
    rateLimits,
  });
}

const CODEC = {
  read: () => ({ kind: 'ignored' }) as const,
  media: () => 'media',
  mark: () => 'mark',
  clear: () => 'clear',
};

/** A callback as Twilio sends it, with a status that says nothing. */
function callback(n: number, signature?: string) {
  const form = { CallSid: `CA${n}`, CallStatus: 'unheard-of' };
  return [
    {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature':
        signature ?? twilio.getExpectedTwilioSignature(TOKEN, ORIGIN + PATH, form),
    },
    { method: 'POST', body: new URLSearchParams(form).toString() },
  ] as const;
}

const FORGED = twilio.getExpectedTwilioSignature('another token', ORIGIN, {});
const countOf = (answers: readonly { readonly status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;
const many = <T>(n: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: n }, (_, i) => make(i)));

it('signed carrier callbacks are accepted while strangers use up the anonymous limit, also at the carrier’s address', async () => {
  await using edge = await startCarrierEdge({
    anonymousRequests: { burst: 20, perMinute: 1 },
    globalPerMinute: 20,
    failedCredentials: { burst: 20, perMinute: 1 },
    leastShares: { funded: 1, free: 1, anonymous: 1 },
  });
  await using stranger = clientAt(STRANGER, edge.port);
  await using carrier = clientAt(CARRIER, edge.port);
  const [flood, flooded] = await Promise.all([
    many(100, () => stranger.ask('/v1/markets')),
    many(100, () => carrier.ask('/v1/markets')),
  ]);
  expect(countOf([...flood, ...flooded], 429)).toBeGreaterThan(150);
  const taken = await many(100, (n) => carrier.ask(PATH, ...callback(n)));
  expect(countOf(taken, 200)).toBe(100);
});

it('1,500 signed callbacks in a minute from one address of a carrier are all accepted', async () => {
  await using edge = await startCarrierEdge({});
  await using carrier = clientAt(CARRIER, edge.port);
  const taken = await many(1_500, (n) => carrier.ask(PATH, ...callback(n)));
  expect(countOf(taken, 200)).toBe(1_500);
});

it('forged carrier callbacks are refused, and count as failed credentials of their network', async () => {
  await using edge = await startCarrierEdge({ failedCredentials: { burst: 20, perMinute: 1 } });
  await using stranger = clientAt(STRANGER, edge.port);
  const forgeries = await many(60, (n) => stranger.ask(PATH, ...callback(n, FORGED)));
  expect([countOf(forgeries, 403), countOf(forgeries, 429)]).toEqual([20, 40]);
  const elsewhere = await many(10, () => stranger.ask('/v1/telephony/none/status', ...callback(1)));
  expect(countOf(elsewhere, 429)).toBe(10);
  // The signature is judged first: a carrier behind the same proxy as its forgers is heard.
  const taken = await many(10, (n) => stranger.ask(PATH, ...callback(n)));
  expect(countOf(taken, 200)).toBe(10);
  expect((await stranger.ask('/v1/markets')).status).toBe(200);
});

it('forged media stream upgrades count as failed credentials, and a signed one is accepted', async () => {
  await using edge = await startCarrierEdge({ failedCredentials: { burst: 5, perMinute: 1 } });
  const path = '/v1/telephony/twilio/media';
  const url = `ws://127.0.0.1:${edge.port}${path}`;
  const upgrade = (signature: string) => refusal(url, [], { 'x-twilio-signature': signature });
  const statuses: number[] = [];
  for (let n = 0; n < 8; n++) statuses.push((await upgrade(FORGED)).status);
  expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429, 429]);
  const signature = twilio.getExpectedTwilioSignature(TOKEN, `wss://voice.example${path}`, {});
  const genuine = new TestSocket(url, [], { 'x-twilio-signature': signature });
  await genuine.opened();
  genuine.ws.close(1000);
  await genuine.closed;
});
