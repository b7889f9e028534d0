import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WEBHOOK_LIMITS } from '../../src/webhooks/limits.ts';
import { type Receiver, signatureOf, startReceiver } from '../support/receiver.ts';
import {
  ask,
  type Developer,
  newDeveloper,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

let world: WholeWorld;
let receiver: Receiver;
let refusing: Awaited<ReturnType<typeof owner>>;
const PATH = '/v1/developer/webhooks';

beforeAll(async () => {
  world = await startWorld({ SSRF_ALLOW_LOCALHOST: '1' });
  receiver = await startReceiver();
  refusing = await owner('refused');
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** A developer of that name, and the routes of webhooks. */
async function owner(name: string) {
  const developer: Developer = await newDeveloper(world.api, name);
  const { headers } = developer;
  const call = (method: string, path: string, body?: unknown) =>
    ask(`${world.url}${path}`, { method, headers, ...(body !== undefined && { body }) });
  const url = `${receiver.url}/${name}`;
  const register = async (more: Record<string, unknown> = {}) => {
    const made = await call('POST', PATH, { url, events: ['*'], ...more });
    expect(made).toMatchObject({ status: 201 });
    return made.body.webhook as { id: number; secret: string };
  };
  const received = () => receiver.received.filter(({ path }) => path === `/${name}`);
  return { ...developer, call, register, received, url };
}

describe('a webhook', () => {
  it('a webhook is created with its secret, which no later read shows', async () => {
    const { call, url } = await owner('reads');
    const made = await call('POST', PATH, { url, events: ['key.*', 'key.*', 'agent.created'] });
    expect(made.status).toBe(201);
    const { secret, ...shown } = made.body.webhook as Record<string, unknown>;
    expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
    expect(shown).toEqual({
      id: expect.any(Number),
      url,
      events: ['key.*', 'agent.created'],
      scope: 'global',
      scopeValue: null,
      active: true,
      inactiveReason: null,
      maxPerSecond: null,
      description: null,
      createdAt: expect.stringMatching(/Z$/),
    });
    expect((await call('GET', PATH)).body).toEqual({ webhooks: [shown] });
    expect((await call('GET', `${PATH}/${shown.id}`)).body).toEqual({
      webhook: shown,
      deliveryStats: { pending: 0, success: 0, failed: 0, retrying: 0, total: 0 },
    });
  });

  it.each([
    ['url must be HTTPS', { url: 'ftp://example.com' }],
    ['blocked_destination', { url: 'http://user:pass@127.0.0.1/' }],
    ['blocked_destination', { url: 'https://example.com/\r\nx-injected: 1' }],
    ['blocked_destination', { url: 'https://169.254.169.254/latest' }],
    ['events must be a non-empty array', { events: [] }],
    ['events must be a non-empty array', { events: 'key.*' }],
    ['events must be a non-empty array', { events: ['no.such'] }],
    ['events must be a non-empty array', { events: ['nothing.*'] }],
    ['events must be a non-empty array', { events: undefined }],
    ['events must be a non-empty array', { events: null }],
    ['invalid_scope', { scope: 'planet' }],
    ['invalid_scope', { scope: 5 }],
    ['invalid_scope', { scope: null }],
    ['invalid_scope', { scope: ['agent'], scopeValue: '1' }],
    ['invalid_scope', { scope: 'agent', scopeValue: { wallet: 1 } }],
    ['invalid_scope', { scope: 'global', scopeValue: '0x1' }],
    ['scopeValue required for non-global scope', { scope: 'agent' }],
    ['invalid_scope', { scope: 'agent', scopeValue: '12' }],
    ['invalid_scope', { scope: 'loan', scopeValue: 'x' }],
    ['Invalid request', { url: `https://example.com/${'x'.repeat(2_048)}` }],
    ['Invalid request', { description: 'x'.repeat(257) }],
  ])('an invalid webhook is refused with %s (%#)', async (error, change) => {
    const { call, url } = refusing;
    const refused = await call('POST', PATH, { url, events: ['*'], ...change });
    expect([refused.status, refused.body.error]).toEqual([400, error]);
  });

  it('an account has at most ten webhooks, however many are created at once', async () => {
    const { call, url } = await owner('many');
    const made = await Promise.all(
      Array.from({ length: 14 }, () => call('POST', PATH, { url, events: ['*'] })),
    );
    expect(made.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 10 }, () => 201),
      ...Array.from({ length: 4 }, () => 400),
    ]);
    expect(made.find(({ status }) => status === 400)?.body).toMatchObject({
      error: 'Limit exceeded',
      message: 'Maximum 10 webhooks allowed',
    });
  });

  it('a webhook can change its URL and its events, and never its scope', async () => {
    const { call, register } = await owner('changes');
    const { id } = await register();
    const patched = await call('PATCH', `${PATH}/${id}`, { events: ['call.*'], description: 'd' });
    expect(patched.body.webhook).toMatchObject({ id, events: ['call.*'], description: 'd' });
    expect((await call('PATCH', `${PATH}/${id}`, { scope: 'global' })).body.error).toBe(
      'invalid_scope',
    );
    expect((await call('DELETE', `${PATH}/${id}`)).body).toEqual({ message: 'Webhook deleted' });
    expect((await call('DELETE', `${PATH}/${id}`)).body.error).toBe('Webhook not found');
  });

  it('a webhook is not visible to another developer in any route', async () => {
    const { register } = await owner('mine');
    const { id } = await register();
    const other = await owner('other');
    const answers = await Promise.all([
      other.call('GET', `${PATH}/${id}`),
      other.call('PATCH', `${PATH}/${id}`, { active: false }),
      other.call('DELETE', `${PATH}/${id}`),
      other.call('POST', `${PATH}/${id}/test`),
      other.call('POST', `${PATH}/${id}/rotate-secret`),
      other.call('GET', `${PATH}/${id}/deliveries`),
      other.call('POST', `${PATH}/${id}/recover`, { since: new Date(0).toISOString() }),
      other.call('POST', `${PATH}/${id}/deliveries/${'0'.repeat(32)}/retry`),
    ]);
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      answers.map(() => [404, 'Webhook not found']),
    );
  });
});

describe('an event', () => {
  it('an event arrives signed in both schemes, and an unmodified receiver verifies it', async () => {
    const { createAgent, received, register } = await owner('signed');
    const { secret } = await register({ events: ['agent.created'] });
    const agentId = await createAgent('one');
    await expect.poll(received, { timeout: 10_000 }).toHaveLength(1);
    const [one] = received();
    if (one === undefined) throw new Error('it has arrived');
    expect(one.event).toMatchObject({ event: 'agent.created', agentId, name: 'one' });
    expect(one.event.sequence).toBeGreaterThan(0);
    expect(one.headers['x-svc-signature']).toBe(signatureOf(secret, one));
    expect(one.headers['x-svc-delivery-id']).toMatch(/^[0-9a-f]{32}$/);
    expect(one.headers['webhook-id']).toBe(one.headers['x-svc-delivery-id']);
    const headers = one.headers as Record<string, string>;
    expect(new Webhook(secret).verify(one.body, headers)).toEqual(one.event);
    expect(() => new Webhook(secret).verify(`${one.body} `, headers)).toThrow();
  });

  it('an event reaches the endpoints whose events and scope include it, and no others', async () => {
    const { call, createAgent, headers, received, register } = await owner('scoped');
    const agents = async () =>
      (await ask(`${world.url}/v1/developer/agents`, { headers })).body.agents as {
        agentWalletAddress: string;
      }[];
    const first = await createAgent('first');
    const [{ agentWalletAddress: wallet } = { agentWalletAddress: '' }] = await agents();
    await register({ scope: 'agent', scopeValue: wallet.toUpperCase().replace('0X', '0x') });
    await register({ scope: 'agent', scopeValue: `0x${'1'.repeat(40)}` });
    await register({ events: ['call.*'] });
    const { key } = (await call('POST', `/v1/developer/agents/${first}/keys`, {})).body;
    expect(key).toBeDefined();
    await expect.poll(received, { timeout: 10_000 }).toHaveLength(1);
    await createAgent('second');
    await call('POST', PATH, { url: `${receiver.url}/scoped`, events: ['provider_key.*'] });
    await call('PUT', '/v1/developer/provider-keys/openai', { key: 'sk-proj-0123456789abcdef' });
    await expect.poll(received, { timeout: 10_000 }).toHaveLength(2);
    expect(received().map(({ event }) => event.event)).toEqual([
      'key.created',
      'provider_key.created',
    ]);
  });

  it('an event is retried after a failure, under its delivery id and a fresh signature, and shown in the log', async () => {
    const { call, createAgent, received, register } = await owner('retried');
    const { id, secret } = await register({ events: ['agent.created'] });
    receiver.answers(({ path }, response) => {
      const isFirst = path === '/retried' && received().length === 1;
      response.writeHead(isFirst ? 500 : 200).end(isFirst ? 'no\u001b[31m luck' : 'ok');
    });
    await createAgent('one');
    await expect.poll(received, { timeout: 10_000 }).toHaveLength(1);
    const log = async () =>
      (
        (await call('GET', `${PATH}/${id}/deliveries`)).body.deliveries as Record<string, unknown>[]
      )[0];
    await expect.poll(log).toMatchObject({ status: 'retrying', attempt: 1, statusCode: 500 });
    const { deliveryId } = (await log()) as { deliveryId: string };
    const detail = (await call('GET', `/v1/developer/webhook-deliveries/${deliveryId}`)).body
      .delivery as Record<string, unknown>;
    expect(detail).toMatchObject({
      webhookId: id,
      error: 'HTTP 500',
      responseBody: 'no[31m luck',
      payload: received()[0]?.event,
    });
    const inMs = Date.parse(String(detail.nextRetryAt)) - Date.parse(String(detail.createdAt));
    expect(inMs).toBeGreaterThan(59_000);
    expect(inMs).toBeLessThan(75_000);
    // The minute passes.
    await world.sql`update webhook_deliveries set due_at = now() where webhook_id = ${id}`;
    await expect.poll(received, { timeout: 10_000 }).toHaveLength(2);
    const [first, second] = received();
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['x-svc-signature']).toBe(second && signatureOf(secret, second));
    await expect.poll(log).toMatchObject({ status: 'success', attempt: 2, error: null });
  });

  it('an event can be read by position without an endpoint', async () => {
    const { call, createAgent } = await owner('feed');
    await createAgent('one');
    const read = async (after: unknown) =>
      (await call('GET', `/v1/developer/events?after=${after}`)).body as {
        events: { event: string; sequence: number }[];
        after: string;
      };
    await expect
      .poll(async () => (await read(0)).events.map(({ event }) => event), { timeout: 10_000 })
      .toEqual(['key.created', 'agent.created']);
    const { after, events } = await read(0);
    expect(Number(after)).toBe(events.at(-1)?.sequence);
    expect((await read(after)).events).toEqual([]);
  });
});

describe('the end of the feed', () => {
  it('the latest position of the event feed lies after all past events and before the next one', async () => {
    const { call, createAgent } = await owner('latest');
    const feed = async (query: string) =>
      (await call('GET', `/v1/developer/events?${query}`)).body as {
        events: { event: string; name?: string }[];
        after: string;
        hasMore: boolean;
      };
    const names = async (query: string) =>
      (await feed(query)).events.flatMap(({ name }) => (name === undefined ? [] : [name]));
    await createAgent('before');
    await expect.poll(() => names('after=0'), { timeout: 10_000 }).toEqual(['before']);
    const end = await feed('latest=true');
    expect(end).toEqual({ events: [], after: expect.stringMatching(/^\d+$/), hasMore: false });
    await createAgent('behind');
    await expect.poll(() => names(`after=${end.after}`), { timeout: 10_000 }).toEqual(['behind']);
    expect((await call('GET', '/v1/developer/events?latest=now')).status).toBe(400);
  });
});

describe('a test event', () => {
  it('a test event answers 200 with the outcome of its delivery, and is never retried', async () => {
    const { call, register } = await owner('tests');
    const { id } = await register();
    receiver.answers((_, response) => response.writeHead(200).end());
    const well = await call('POST', `${PATH}/${id}/test`);
    expect(well).toMatchObject({ status: 200, body: { success: true, statusCode: 200 } });
    receiver.answers((_, response) => response.writeHead(302, { location: '/' }).end());
    const badly = await call('POST', `${PATH}/${id}/test`, {});
    expect(badly.body).toMatchObject({ success: false, statusCode: 302, error: 'HTTP 302' });
    const { deliveryId } = badly.body as { deliveryId: string };
    const again = await call('POST', `${PATH}/${id}/deliveries/${deliveryId}/retry`);
    expect([again.status, again.body.error]).toEqual([409, 'not_retryable']);
    const missing = await call('POST', `${PATH}/${id}/deliveries/${'0'.repeat(32)}/retry`);
    expect([missing.status, missing.body.error]).toEqual([404, 'Delivery not found']);
    receiver.answers((_, response) => response.writeHead(200).end());
  });

  it('a test event may be sent ten times a minute', async () => {
    const { call, register } = await owner('eager');
    const { id } = await register();
    const answers: number[] = [];
    for (let n = 0; n < WEBHOOK_LIMITS.endpoint.triesPerMinute + 2; n++) {
      answers.push((await call('POST', `${PATH}/${id}/test`)).status);
    }
    expect(answers.filter((status) => status === 429).length).toBeGreaterThanOrEqual(1);
  });
});

describe('the secret of a webhook', () => {
  it('a rotated webhook secret replaces the old one at once in one scheme, and signs beside it for a day in the other', async () => {
    const { call, received, register } = await owner('rotates');
    const { id, secret } = await register();
    const rotated = (await call('POST', `${PATH}/${id}/rotate-secret`)).body.secret as string;
    expect(rotated).toMatch(/^whsec_/);
    await call('POST', `${PATH}/${id}/test`);
    const one = received().at(-1);
    if (one === undefined) throw new Error('it has arrived');
    const headers = one.headers as Record<string, string>;
    expect(headers['x-svc-signature']).toBe(signatureOf(rotated, one));
    for (const each of [secret, rotated]) new Webhook(each).verify(one.body, headers);
    const last = (await call('POST', `${PATH}/${id}/rotate-secret?immediate=true`)).body.secret;
    await call('POST', `${PATH}/${id}/test`);
    const two = received().at(-1);
    if (two === undefined) throw new Error('it has arrived');
    const signed = two.headers as Record<string, string>;
    new Webhook(String(last)).verify(two.body, signed);
    expect(() => new Webhook(rotated).verify(two.body, signed)).toThrow();
  });
});

describe('the catalogue of events', () => {
  it('the catalogue of events has the 30 events in their categories, each with the schema of its payload', async () => {
    const { call } = await owner('catalogue');
    const { events } = (await call('GET', `${PATH}/events`)).body as {
      events: { name: string; category: string; scope: string; schema: { properties: object } }[];
    };
    expect(events).toHaveLength(30);
    const count = (category: string) => events.filter((one) => one.category === category).length;
    expect(['loan', 'agent', 'credit', 'call', 'phone', 'marketplace'].map(count)).toEqual([
      5, 8, 3, 6, 2, 6,
    ]);
    expect(events.filter(({ scope }) => scope === 'platform')).toHaveLength(2);
    for (const { schema } of events) {
      expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(['event', 'firedAt']));
    }
  });
});

describe('the log of all deliveries', () => {
  it('the log of all deliveries is read page by page, newest first, and can be filtered', async () => {
    const { call, register } = await owner('log');
    const { id } = await register();
    for (let n = 0; n < 5; n++) await call('POST', `${PATH}/${id}/test`);
    const LOG = '/v1/developer/webhook-deliveries';
    const seen: number[] = [];
    let cursor = '';
    for (let page = 0; page < 3; page++) {
      const { body } = await call('GET', `${LOG}?limit=2${cursor}`);
      const { deliveries, hasMore, nextCursor } = body as {
        deliveries: { id: number }[];
        hasMore: boolean;
        nextCursor: string | null;
      };
      seen.push(...deliveries.map((one) => one.id));
      expect(hasMore).toBe(page < 2);
      cursor = `&cursor=${encodeURIComponent(nextCursor ?? '')}`;
    }
    expect(seen).toEqual([...seen].sort((a, b) => b - a));
    expect(new Set(seen).size).toBe(5);
    const found = async (query: string) =>
      ((await call('GET', `${LOG}?${query}`)).body.deliveries as unknown[]).length;
    expect(await found(`endpoint=${id}&event=test&status=success`)).toBe(5);
    expect(await found('status=failed')).toBe(0);
    expect(await found(`agent=0x${'0'.repeat(40)}`)).toBe(0);
    expect(await found(`from=${new Date(Date.now() + 60_000).toISOString()}`)).toBe(0);
    for (const bad of ['status=odd', 'agent=0x1', 'from=yesterday', 'endpoint=x']) {
      expect((await call('GET', `${LOG}?${bad}`)).body.error).toBe('invalid_filter');
    }
    expect((await call('GET', `${LOG}?cursor=e30`)).body.error).toBe('invalid_cursor');
    const none = await call('GET', `${LOG}/${'0'.repeat(32)}`);
    expect([none.status, none.body.error]).toEqual([404, 'delivery_not_found']);
  });
});
