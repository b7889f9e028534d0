import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { ok, route } from '../../../../src/http/route/route.ts';
import { socketRoute } from '../../../../src/http/route/socket-route.ts';
import { createApiDescription } from '../../../../src/http/server/api-description.ts';
import { ROUTES } from '../../../../src/routes/index.ts';
import { EVENT_KINDS } from '../../../../src/webhooks/catalogue.ts';
import { eventSchema } from '../../../../src/webhooks/event-schema.ts';

const socket = socketRoute()({
  path: '/v1/listen',
  credential: 'agent',
  summary: 'Listens',
  authenticateFrom: ['bearer'],
  protocols: ['svc-listen'],
  query: z.object({ model: z.string() }),
  open: () => ({ opened() {}, message() {}, closed() {} }),
});

const shaped = route()({
  method: 'POST',
  path: '/v1/things/:id',
  credential: 'management',
  summary: 'Makes a thing',
  idempotent: true,
  params: z.object({ id: z.coerce.number().int() }),
  query: z.object({ deep: z.string().optional() }),
  body: z.object({ name: z.string().max(8), amount: z.string().transform((text) => BigInt(text)) }),
  response: z.object({ id: z.number() }),
  status: 201,
  handle: () => ok({}),
});

const describeAll = () => {
  const routes = [...ROUTES, shaped];
  const bytes = createApiDescription({ routes, sockets: [socket] }).yaml();
  // biome-ignore lint/suspicious/noExplicitAny: a parsed document.
  return { routes, document: parse(Buffer.from(bytes).toString('utf8')) as any };
};

describe('the API description', () => {
  it('the API description has every served route and socket, with summary and security', () => {
    const { routes, document } = describeAll();
    expect(document.openapi).toBe('3.1.0');
    for (const { method, path, summary } of routes) {
      const place = path.replace(/:(\w+)/g, '{$1}');
      expect(document.paths[place]?.[method.toLowerCase()]?.summary, place).toBe(summary);
      expect(summary, place).not.toMatch(/\.$/);
    }
    const listen = document.paths['/v1/listen'].get;
    expect(listen.description).toContain('svc-listen');
    expect(listen.responses['101']).toBeDefined();
    expect(listen.security).toEqual([{ agentKey: [] }]);
  });

  it('the API description gives every operation a unique id', () => {
    const { document } = describeAll();
    const ids = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap(
      (operations) => Object.values(operations).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('the API description draws parameters, bodies and responses from the schemas that check them', () => {
    const { document } = describeAll();
    const operation = document.paths['/v1/things/{id}'].post;
    expect(operation.parameters).toMatchObject([
      { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
      { name: 'deep', in: 'query', required: false, schema: { type: 'string' } },
      { name: 'Idempotency-Key', in: 'header' },
    ]);
    const body = operation.requestBody.content['application/json'].schema;
    expect(body.properties).toMatchObject({
      name: { type: 'string', maxLength: 8 },
      amount: { type: 'string' },
    });
    expect(operation.responses['201'].content['application/json'].schema.properties).toEqual({
      id: { type: 'number' },
    });
  });

  it('the API description is built once', () => {
    const description = createApiDescription({ routes: [], sockets: [] });
    expect(description.yaml()).toBe(description.yaml());
  });
});

describe('the webhooks of the description', () => {
  it('the API description has every event as a webhook, with its body and both signatures', () => {
    const webhooks = EVENT_KINDS.map((kind) => ({ ...kind, schema: eventSchema(kind) }));
    const yaml = createApiDescription({ routes: [], sockets: [], webhooks }).yaml();
    const described = parse(Buffer.from(yaml).toString()) as {
      webhooks: Record<string, { post: Record<string, unknown> }>;
    };
    expect(Object.keys(described.webhooks)).toEqual(EVENT_KINDS.map(({ name }) => name));
    const post = described.webhooks['call.ended']?.post ?? {};
    expect(post).toMatchObject({
      summary: 'Call ended',
      requestBody: {
        content: {
          'application/json': {
            schema: {
              properties: { event: { const: 'call.ended' }, durationSeconds: { type: 'integer' } },
              required: expect.arrayContaining(['event', 'callId', 'firedAt']),
            },
          },
        },
      },
    });
    const names = (post.parameters as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['X-Svc-Signature', 'webhook-signature']));
  });
});
