import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AnyRoute, isStreamed } from '../../src/http/route/route.ts';
import { BRAND } from '../../src/kernel/ids.ts';
import { ROUTES } from '../../src/routes/index.ts';
import { QuietCallee } from '../support/phone-world.ts';
import { RawSocket } from '../support/raw-socket.ts';
import { example, plant } from '../support/text-places.ts';
import {
  type Ask,
  ask,
  newDeveloper,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld(
    { SSRF_ALLOW_LOCALHOST: '1', TRUSTED_PROXIES: '127.0.0.0/8' },
    { calleeOf: async () => new QuietCallee() },
  );
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** A character that no column holds, and half of one. */
const TEXTS = ['a\u0000b', 'a\ud83d'];

/** Half a character has no percent-encoding: the replacement character goes out for it, as browsers have it. */
const wellFormed = (text: string) => text.replace(/\p{Cs}/gu, '\ufffd');

let places = 0;
/** Every request from another place: the limit of one address would soon be all that the routes see. */
const fromElsewhere = (request: Ask): Ask => ({
  ...request,
  headers: {
    ...request.headers,
    'x-forwarded-for': `203.0.${(places >> 8) & 255}.${places++ & 255}`,
  },
});

type Schema = Readonly<Record<string, unknown>>;
const schemaOf = (shape: unknown) =>
  z.toJSONSchema(shape as z.ZodType, { io: 'input', unrepresentable: 'any' }) as Schema;

type Caller = { readonly ids: Record<string, string>; readonly headers: Record<string, string> };

/** A developer and an agent of their own for each route, so that no limit and no earlier request changes an answer. */
async function callerOf(route: AnyRoute, nr: number): Promise<Caller> {
  const developer = await newDeveloper(world.api, `odd ${nr}`);
  const agentId = await developer.createAgent(`odd ${nr}`);
  const { key, keyId } = await developer.mintKey(agentId);
  const admin = { 'x-admin-key': world.adminApiKey };
  await ask(`${world.url}/v1/admin/agents/${agentId}/credit`, {
    headers: admin,
    body: { amountRaw: '10000000', reference: `odd-${nr}` },
  });
  const hook = await ask(`${world.url}/v1/developer/webhooks`, {
    headers: developer.headers,
    body: { url: 'https://127.0.0.1:9/x', events: ['agent.created'] },
  });
  const own = { agentId: String(agentId), keyId: String(keyId), id: String(hook.body.id) };
  const ids = route.path.startsWith('/v1/developer/') ? own : { ...own, id: 'local' };
  switch (route.credential) {
    case 'admin':
      return { ids, headers: admin };
    case 'management':
      return { ids, headers: developer.headers };
    case 'signature':
      return { ids, headers: await developer.sign() };
    default:
      return { ids, headers: { authorization: `Bearer ${key}` } };
  }
}

type Case = { readonly place: string; readonly path: string; readonly ask: Ask };

/** Every place of a route where a text can stand, with the text in it. */
function casesOf(route: AnyRoute, { ids, headers }: Caller, text: string): Case[] {
  const { method, body, params, query } = route;
  const shapes = (params === undefined ? {} : schemaOf(params).properties) as Record<
    string,
    Schema
  >;
  const pathWith = (planted?: string) =>
    route.path.replace(/:(\w+)/g, (_, name: string) => {
      const plain = ids[name] ?? example(shapes[name] ?? { type: 'string' }, name);
      return encodeURIComponent(name === planted ? wellFormed(text) : String(plain));
    });
  const json = body === undefined || isStreamed(body) ? undefined : schemaOf(body);
  const base = { method, headers, ...(json && { body: example(json) }) };
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    place: `path ${name}`,
    path: pathWith(name),
    ask: base,
  }));
  const inQuery = (query === undefined ? [] : plant(schemaOf(query), text, '', false)).map(
    ({ place, value }) => {
      const pairs = new Map(
        Object.entries(value as object).map(([key, one]) => [key, String(one)]),
      );
      const search = new URLSearchParams([...pairs]).toString();
      return { place: `query ${place}`, path: `${pathWith()}?${search}`, ask: base };
    },
  );
  const inBody = [true, false].flatMap((whole) =>
    (json === undefined ? [] : plant(json, text, '', whole)).map(({ place, value }) => ({
      place: `body ${place}${whole ? ' among others' : ''}`,
      path: pathWith(),
      ask: { ...base, body: value ?? null },
    })),
  );
  return [...inPath, ...inQuery, ...inBody, ...streamedCases(route, pathWith(), base, text)];
}

/** A body that the handler reads itself: lines of JSON, or a form with the text in a field, its name and a file's. */
function streamedCases({ body }: AnyRoute, path: string, base: Ask, text: string): Case[] {
  if (body === undefined || !isStreamed(body)) return [];
  const line = {
    ts: '2026-01-01T00:00:00Z',
    provider: text,
    model: text,
    costUsd: '1',
    costRaw: '1',
  };
  const fields = ['model', 'language', 'prompt', 'response_format', text].map(
    (name) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`,
  );
  const file = `--b\r\ncontent-disposition: form-data; name="file"; filename="${text}"\r\n\r\nx\r\n`;
  const form = { ...base.headers, 'content-type': 'multipart/form-data; boundary=b' };
  return [
    { place: 'line', path, ask: { ...base, body: JSON.stringify(line) } },
    ...[...fields, file].map((part) => ({
      place: 'form',
      path,
      ask: { ...base, headers: form, body: `${part}--b--\r\n` },
    })),
  ];
}

/** The headers that keep an answer out of caches and from being read as another media type. */
function lacksOf({ credential }: AnyRoute, headers: Headers): string[] {
  const lacks = headers.get('x-content-type-options') === 'nosniff' ? [] : ['nosniff'];
  const isKept = /\bno-(store|cache)\b/.test(headers.get('cache-control') ?? '');
  return credential === 'none' || isKept ? lacks : [...lacks, 'no-store'];
}

const isFailure = (status: number, error: unknown) =>
  status === 500 || status === 429 || error === 'ledger_unavailable';

describe('a text that no column holds', () => {
  it.each(ROUTES.map((route, nr) => [`${route.method} ${route.path}`, route, nr] as const))(
    'text that no column can hold never fails the server at %s, in any field, and each response has the security headers',
    async (_, route, nr) => {
      const caller = await callerOf(route as AnyRoute, nr);
      const failed: string[] = [];
      for (const text of TEXTS) {
        for (const { place, path, ask: request } of casesOf(route as AnyRoute, caller, text)) {
          const { status, body, headers } = await ask(world.url + path, fromElsewhere(request));
          failed.push(
            ...lacksOf(route as AnyRoute, headers).map((each) => `no ${each} in ${place}`),
          );
          if (isFailure(status, body.error)) {
            failed.push(`${status} for ${JSON.stringify(text)} in ${place}`);
          }
        }
      }
      expect(failed).toEqual([]);
    },
  );

  it('a NUL is refused in a header, and ignored as a tag when it is percent-encoded', async () => {
    const { agentKey } = await world.fund('odd headers');
    const tags = ['task-id', 'action-id', 'customer-id', 'task-value', 'provider-key'];
    const names = tags.map((tag) => BRAND.headerPrefix + tag);
    const body = '{"model":"local/guide","messages":[{"role":"user","content":"2 + 3?"}]}';
    for (const name of [...names, 'idempotency-key', 'x-request-id', 'cookie', 'user-agent']) {
      for (const [value, statuses] of [
        ['a\u0000b', [400]],
        ['a%00b', [200, 400]],
      ] as const) {
        const socket = await RawSocket.open(world.port);
        socket.send(
          `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${agentKey}\r\n` +
            `content-type: application/json\r\ncontent-length: ${body.length}\r\n${name}: ${value}\r\n\r\n${body}`,
        );
        await expect.poll(() => socket.received.length > 0 || socket.isClosed).toBe(true);
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(socket.received)?.[1] ?? 400);
        expect(statuses, `${name}: ${JSON.stringify(value)}`).toContain(status);
        socket.destroy();
      }
    }
  });
});
