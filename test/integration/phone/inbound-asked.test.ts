import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import type { CallOptions } from '../../../src/phone/calls/call.ts';
import type { CallDeps } from '../../../src/phone/calls/call-deps.ts';
import { findCall } from '../../../src/phone/calls/call-store.ts';
import { askInbound } from '../../../src/phone/calls/opening/ask-inbound.ts';
import { requestSecret } from '../../../src/phone/calls/opening/request-secret.ts';
import { receiveCall } from '../../../src/phone/calls/receive-call.ts';
import { createDestinationGuard } from '../../../src/platform/egress/destination-guard.ts';
import { createGuardedClient } from '../../../src/platform/egress/guarded-client.ts';
import { startCallWorld } from '../../support/call-world.ts';
import { startReceiver } from '../../support/receiver.ts';

const SECRET = requestSecret('sealing', { agentId: 7, version: 1 });
const FROM = '+14155550111';
const WITHIN_MS = 4_000;

let world: Awaited<ReturnType<typeof startCallWorld>>;
let backend: Awaited<ReturnType<typeof startReceiver>>;
const clientWith = (allowLocalhost: boolean) =>
  createGuardedClient({
    guard: createDestinationGuard({
      resolve: async (host) => {
        if (host === 'gone.example') throw new Error('no such host');
        if (host === 'slow.example') return new Promise(() => {});
        return [host === 'inner.example' ? '10.0.0.1' : '127.0.0.1'];
      },
      clock: systemClock,
      allowLocalhost,
      domainAllowlist: [],
      needsTls: true,
    }),
    clock: systemClock,
  });
const [local, strict] = [clientWith(true), clientWith(false)];
beforeAll(async () => {
  world = await startCallWorld();
  backend = await startReceiver();
});
afterAll(async () => {
  await Promise.all([local, strict].map((client) => client[Symbol.asyncDispose]()));
  await backend[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

let rings = 0;

/** Rings an agent that has this address, and returns what became of the call. */
async function ring({ client = local, url = backend.url } = {}) {
  const agent = await world.agent();
  const stored = await world.deps.voiceOf(agent.agentId);
  const deps: CallDeps = {
    ...world.deps,
    voiceOf: async () => ({
      ...stored,
      beginMessage: 'Stored.',
      recordCalls: false,
      reportCalls: false,
      inboundUrl: url,
    }),
    refusalOf: async (to) => (to.startsWith('+1') ? undefined : { message: 'not there' }),
    askInbound: (question, { url: asked }) =>
      askInbound(
        { client, clock: systemClock, log: silentLog },
        { secret: SECRET, url: asked },
        question,
      ),
  };
  const beganMs = performance.now();
  const received = await receiveCall(deps, {
    carrierCallId: `LBi${++rings}`,
    from: FROM,
    to: agent.phoneNumber,
  });
  const tookMs = performance.now() - beganMs;
  const call =
    received.kind === 'admitted' ? await findCall(world.sql, received.callId) : undefined;
  const rejected = await world.sql<{ reason: string }[]>`
    select payload ->> 'reason' as reason from events
    where account_id = ${agent.accountId} and name = 'call.rejected'`;
  return { agent, options: call?.options, received, rejected, tookMs };
}

const says = (answer: unknown) =>
  backend.answers((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });

const STORED: Partial<CallOptions> = { isRecorded: false, wantsReport: false };

describe('the developer of an agent who is asked about a call that rings', () => {
  it('the request to an inbound URL is signed by Standard Webhooks and names caller and callee', async () => {
    says({ action: 'accept' });
    const { agent, options } = await ring();
    const asked = backend.received.at(-1);
    if (asked === undefined) throw new Error('nothing was asked');
    const { body, event, headers } = asked;
    expect(event).toEqual({
      type: 'call.inbound',
      callId: expect.stringMatching(/^CA[0-9a-f]{32}$/),
      agentId: agent.agentId,
      from: FROM,
      to: agent.phoneNumber,
    });
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    );
    expect(options).toMatchObject({ ...STORED, voice: { beginMessage: 'Stored.' } });
  });

  it('an inbound call that its inbound URL accepts speaks the words of the response', async () => {
    says({
      action: 'accept',
      beginMessage: 'Hello {{name}}.',
      variables: { name: 'Ann' },
      metadata: { crm: 1 },
      turnDetection: { mode: 'patient' },
      report: true,
    });
    const { options } = await ring();
    expect(options).toMatchObject({
      voice: { beginMessage: 'Hello Ann.', conversation: { turnDetection: { mode: 'patient' } } },
      variables: { name: 'Ann' },
      metadata: { crm: 1 },
      wantsReport: true,
    });
  });

  it('an inbound call that its inbound URL rejects is not answered, costs nothing and is reported', async () => {
    says({ action: 'reject' });
    const { options, received, rejected } = await ring();
    expect(received).toEqual({ kind: 'reject', reason: 'rejected' });
    expect(rejected).toEqual([{ reason: 'inbound_rejected' }]);
    expect(options).toBeUndefined();
  });

  it('an inbound call that its inbound URL forwards is transferred at its answer and speaks nothing before', async () => {
    says({ action: 'forward', to: '+14155550177' });
    const { options } = await ring();
    expect(options).toMatchObject({ forwardTo: '+14155550177', voice: { beginMessage: null } });
  });
});

const raw = (status: number, body: string, headers: Record<string, string> = {}) =>
  backend.answers((_, response) => {
    response.writeHead(status, headers).end(body);
  });
const endless = (response: ServerResponse, piece: string, everyMs: number) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write(piece), everyMs);
  response.on('close', () => clearInterval(timer));
};

const LIES: Readonly<Record<string, () => void>> = {
  'answers 500': () => raw(500, '{"action":"reject"}'),
  'answers 204': () => raw(204, ''),
  'answers 201 with a rejection': () => raw(201, '{"action":"reject"}'),
  'redirects elsewhere': () => raw(302, '', { location: `${backend.url}/other` }),
  'answers no JSON': () => raw(200, '<Response><Reject/></Response>'),
  'answers an empty body': () => raw(200, ''),
  'answers null': () => says(null),
  'answers a list': () => says([{ action: 'reject' }]),
  'answers an action that there is not': () => says({ action: 'voicemail' }),
  'answers another case of an action': () => says({ action: 'REJECT' }),
  'accepts with a wrong setting': () => says({ action: 'accept', turnDetection: { mode: 'x' } }),
  'accepts with a text of another type': () => says({ action: 'accept', beginMessage: 7 }),
  'accepts with a text that no row can hold': () => says({ action: 'accept', beginMessage: 'a\0' }),
  'accepts with half a character': () => raw(200, '{"action":"accept","systemPrompt":"\\ud83d"}'),
  'accepts with a variable that has no value': () =>
    says({ action: 'accept', beginMessage: '{{a}}', variables: {} }),
  'accepts with a model that nobody sells': () => says({ action: 'accept', model: 'no/model' }),
  'accepts with a model that no key opens': () => says({ action: 'accept', model: 'keyed/talker' }),
  'accepts with __proto__': () =>
    raw(200, '{"action":"accept","variables":{"__proto__":7,"a b":1}}'),
  'accepts with too many values': () =>
    says({
      action: 'accept',
      metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`m${n}`, n])),
    }),
  'forwards to no number': () => says({ action: 'forward', to: 'sip:me@example.com' }),
  'forwards to a number that may not be called': () =>
    says({ action: 'forward', to: '+9991234567' }),
  'forwards without a number': () => says({ action: 'forward' }),
  'answers deep nesting': () => raw(200, '['.repeat(30_000)),
  'answers more than 64 KiB': () => raw(200, `{"action":"reject","x":"${'x'.repeat(70_000)}"}`),
  'never ends its answer': () => backend.answers((_, response) => endless(response, ' ', 50)),
  'never begins its answer': () => backend.answers(() => {}),
  'answers too late': () =>
    backend.answers((_, response) => {
      setTimeout(() => response.writeHead(200).end('{"action":"reject"}'), 3_500);
    }),
  'breaks the connection off': () => backend.answers((_, response) => response.destroy()),
  'sends half an answer': () =>
    backend.answers((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"action":"rej');
      setTimeout(() => response.destroy(), 50);
    }),
};

describe('an inbound URL that lies', () => {
  it.each(Object.entries(LIES))(
    'an inbound call is answered with the stored settings when its inbound URL %s',
    async (_, lie) => {
      lie();
      const { options, received, tookMs } = await ring();
      expect(received.kind).toBe('admitted');
      expect(options).toMatchObject({ ...STORED, voice: { beginMessage: 'Stored.', model: null } });
      expect(options?.forwardTo).toBeUndefined();
      expect(options?.metadata).toBeUndefined();
      expect(tookMs).toBeLessThan(WITHIN_MS);
    },
  );

  it.each([
    ['a private place', 'https://inner.example/'],
    ['this machine', 'https://here.example/'],
    ['an address of the cloud', 'https://169.254.169.254/latest'],
    ['a host that is gone', 'https://gone.example/'],
    ['a host whose name is not resolved in time', 'https://slow.example/'],
    ['plain HTTP', 'http://here.example/'],
  ])(
    'an inbound call is answered with the stored settings when its inbound URL leads to %s',
    async (_, url) => {
      const before = backend.received.length;
      const { options, tookMs } = await ring({ client: strict, url });
      expect(options).toMatchObject({ voice: { beginMessage: 'Stored.' } });
      expect(backend.received).toHaveLength(before);
      expect(tookMs).toBeLessThan(WITHIN_MS);
    },
  );
});
