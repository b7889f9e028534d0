import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FundedAgent } from '../../../src/app/commands/demo/fund-agent.ts';
import { type AnyRoute, isStreamed } from '../../../src/http/route/route.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { ROUTES } from '../../../src/routes/index.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import {
  ask,
  type Developer,
  newDeveloper,
  startWorld,
  type WholeWorld,
} from '../../support/whole-world.ts';

const RUNS = exhaustive ? 40 : 20;
const DEVELOPERS = 22;
const BUYERS = 4;
const HANGS_AFTER_MS = 10_000;
/** What ends agents and developer keys comes last, so that the others meet living ones. */
const ENDING = /close$|developer\/keys\/:keyId\/rotate$/;
const WRITING = (ROUTES as readonly AnyRoute[])
  .filter(({ method }) => method === 'POST' || method === 'PATCH')
  .sort((a, b) => Number(ENDING.test(a.path)) - Number(ENDING.test(b.path)));

let world: WholeWorld;
/** Several of each, because the rate limit of one would soon be all that the routes see. */
const buyers: FundedAgent[] = [];
const developers: Developer[] = [];
const agentIds: number[] = [];
beforeAll(async () => {
  world = await startWorld({ TRUSTED_PROXIES: '127.0.0.0/8' });
  for (let n = 0; n < BUYERS; n++) buyers.push(await world.fund(`buyer ${n}`));
  for (let n = 0; n < DEVELOPERS; n++) {
    const developer = await newDeveloper(world.api, `any json ${n}`);
    developers.push(developer);
    agentIds.push(await developer.createAgent('one'));
  }
});
afterAll(async () => {
  expect(await checkInvariants(world.sql)).toEqual([]);
  await world[Symbol.asyncDispose]();
});

const KNOWN_FIELDS = [
  'name',
  'label',
  'permissions',
  'expiresAt',
  'maxRateBps',
  'expirySeconds',
  'status',
  'borrowLimitRaw',
  'amountRaw',
  'reference',
  'model',
  'messages',
  'max_tokens',
  'stream',
  'n',
  'tools',
  'tool_choice',
  'budgetRaw',
  'windowSeconds',
  '__proto__',
  'constructor',
];

/** Values that are right somewhere, so that a run gets past the first check now and then. */
const plausible = fc.constantFrom<unknown>(
  'one',
  'read',
  'read_write',
  'active',
  'suspended',
  '1',
  'local/guide',
  'reference-1',
  '2030-01-01T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '0001-01-01T00:00:00Z',
  'a\u0000b',
  0,
  1,
  3_600,
  -1,
  1.5,
  1e300,
  null,
  true,
  false,
  [{ role: 'user', content: 'hello' }],
  [{ role: 'user', content: [{ type: 'text', text: 'hello' }, { type: 'image_url' }] }],
  [{ role: 'assistant', content: null, tool_calls: [{}] }, { role: 'tool' }],
  [{ type: 'function', function: { name: 'balance', parameters: {} } }],
);
const value = fc.oneof(plausible, fc.jsonValue(), fc.string({ unit: 'binary', maxLength: 200 }));
const someFields = fc.dictionary(fc.constantFrom(...KNOWN_FIELDS), value);
const AGENT = { name: 'agent', maxRateBps: 100, expirySeconds: 3_600 };
const KEY = { label: 'a key', permissions: 'read' };
const CHAT = {
  model: 'local/guide',
  max_tokens: 16,
  messages: [{ role: 'user', content: 'What is 2 + 3?' }],
};
/** What the routes ask for, by how their paths end. */
const RIGHT: readonly (readonly [RegExp, Record<string, unknown>])[] = [
  [/developer\/agents$/, AGENT],
  [/keys$|rotate$/, KEY],
  [/status$|admin\/agents\/:agentId$/, { status: 'active' }],
  [/credit$/, { amountRaw: '1', reference: 'almost' }],
  [/completions$/, CHAT],
];

/** Mostly right but for one field that is anything: a known one, or one that only this route knows. */
function bodyOf(route: AnyRoute): fc.Arbitrary<unknown> {
  const right = RIGHT.find(([ends]) => ends.test(route.path))?.[1] ?? {};
  const field = fc.constantFrom(...KNOWN_FIELDS, ...Object.keys(right));
  const almost = fc
    .dictionary(field, value, { maxKeys: 1 })
    .map((odd): unknown => ({ ...right, ...odd }));
  return fc.oneof({ weight: 3, arbitrary: almost }, someFields, fc.jsonValue());
}

const segment = fc.oneof(
  { weight: 4, arbitrary: fc.nat(DEVELOPERS - 1).map((n) => String(agentIds[n])) },
  fc.nat(20).map(String),
  fc.constant('%00'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map(percentEncoded),
);

/** Half characters have no encoding, so they stand as the sign for one that could not be read. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd')).replaceAll('.', '%2E');
}

const pathOf = (route: AnyRoute) => {
  const names = route.path.match(/:\w+/g) ?? [];
  return fc
    .tuple(...names.map(() => segment))
    .map((values) =>
      names.reduce(
        (path, name, i) => path.replace(name, values[i] as string),
        route.path as string,
      ),
    );
};

let turn = 0;
async function credentialFor(route: AnyRoute): Promise<Record<string, string>> {
  const developer = developers[turn++ % DEVELOPERS] as Developer;
  switch (route.credential) {
    case 'admin':
      return { 'x-admin-key': world.adminApiKey };
    case 'agent':
      return { authorization: `Bearer ${buyers[turn % BUYERS]?.agentKey}` };
    case 'signature':
      return developer.sign();
    default:
      return { ...developer.headers };
  }
}

let places = 0;
/** Every request from another place: the limit of one address would soon be all that the routes see. */
const fromElsewhere = () => ({
  'x-forwarded-for': `203.0.${(places >> 8) & 255}.${places++ & 255}`,
});

/** 503 is an answer where the specification has it: what is asked for is not there just now. */
const isDocumented = (status: number) => status < 500 || status === 503;

const DEEP = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
const DEEP_TOLD = /nested|not valid JSON|Invalid request body|Invalid JSON body|invalid_json/;
/** What a route asks for beside its body, without which that is not read. */
const QUERIES: Readonly<Record<string, string>> = { '/v2/speak': '?model=local/flite' };
/** A parameter of the form that the route takes: most are numbers. */
function parameterOf({ path }: AnyRoute, name: string): string {
  if (name === ':wallet') return `0x${'a'.repeat(40)}`;
  return path.startsWith('/v1/transfers/') ? randomUUID() : String(agentIds[0]);
}
/** Read with another credential than these developers have, or by lines. */
const isRead = ({ body, credential, path }: AnyRoute) =>
  body !== undefined && !isStreamed(body) && credential !== 'none' && !/verify$/.test(path);

describe('JSON that is nested 10,000 levels deep', () => {
  for (const route of ROUTES.filter(isRead) as readonly AnyRoute[]) {
    it(`${route.method} ${route.path} answers 400 to JSON that is nested 10,000 levels deep`, async () => {
      const headers = { ...(await credentialFor(route)), ...fromElsewhere() };
      const path = route.path.replace(/:\w+/g, (name) => parameterOf(route, name));
      const { method } = route;
      const url = `${world.url}${path}${QUERIES[route.path] ?? ''}`;
      const told = await ask(url, { method, headers, body: DEEP });
      expect(told.status).toBe(400);
      expect(JSON.stringify(told.body)).toMatch(DEEP_TOLD);
    });
  }
});

describe('any JSON', () => {
  for (const route of WRITING) {
    it(`${route.method} ${route.path} answers any JSON within 10 s, as JSON with a documented status`, async () => {
      await fc.assert(
        fc.asyncProperty(pathOf(route), bodyOf(route), async (path, sent) => {
          const startedMs = performance.now();
          const headers = { ...(await credentialFor(route)), ...fromElsewhere() };
          const told = await ask(world.url + path, { method: route.method, headers, body: sent });
          expect(performance.now() - startedMs).toBeLessThan(HANGS_AFTER_MS);
          expect(isDocumented(told.status), `${told.status} ${JSON.stringify(told.body)}`).toBe(
            true,
          );
          expect(told.status, 'the limit of requests hides the route').not.toBe(429);
          expect(told.body).not.toHaveProperty('text');
          if (told.status >= 400) expect(told.body).toHaveProperty('error');
        }),
        { numRuns: RUNS },
      );
    });
  }
});
