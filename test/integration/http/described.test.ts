import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROUTES } from '../../../src/routes/index.ts';
import { ask, askGuide, startWorld, type WholeWorld } from '../../support/whole-world.ts';

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

type Operation = { readonly responses: object; readonly security?: unknown };
type Description = {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

describe('the capabilities of the running server', () => {
  it('the capabilities of the running server promise nothing that no route serves', async () => {
    const told = await ask(`${world.url}/v1/capabilities`);
    const { capabilities } = told.body as { capabilities: Record<string, boolean> };
    const served = (part: string) => ROUTES.some(({ path }) => path.includes(part));
    expect(capabilities.gateway).toBe(served('/v1/chat/completions'));
    expect(capabilities.llmProxy).toBe(served('/v1/llm/chat/completions'));
    // Its routes are there, and without a chain nothing could be paid by them.
    expect([capabilities.x402Facilitator, served('/proxy/fetch')]).toEqual([false, true]);
    expect(capabilities.telephony).toBe(served('/v1/calls'));
  });
});

describe('the description of the running server', () => {
  it('the description of the running server is OpenAPI 3.1 and has every route and socket with its responses', async () => {
    const told = await ask(`${world.url}/.well-known/openapi.yaml`);
    expect([told.status, told.headers.get('content-type')]).toEqual([
      200,
      'application/yaml; charset=utf-8',
    ]);
    const description = parse(String(told.body.text)) as Description;
    expect(description.openapi).toMatch(/^3\.1\./);
    const sockets = [
      '/v1/audio/transcriptions/stream',
      '/v1/realtime',
      '/v1/live/sessions',
      '/v1/listen',
      '/v2/listen',
      '/v1/speak',
      '/v2/speak',
      '/v1/responses',
    ];
    const expected = [
      ...ROUTES.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`),
      ...sockets.map((path) => `GET ${path}`),
    ];
    const described = Object.entries(description.paths).flatMap(([path, operations]) =>
      Object.keys(operations)
        .filter((verb) => verb !== 'parameters')
        .map((verb) => `${verb.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(expected.sort());
    for (const path of Object.values(description.paths)) {
      for (const operation of Object.values(path)) {
        expect(Object.keys(operation.responses)).not.toEqual([]);
      }
    }
  });

  it('the description of the running server resolves every reference in it', async () => {
    const told = await ask(`${world.url}/.well-known/openapi.yaml`);
    const description = parse(String(told.body.text)) as Record<string, unknown>;
    const broken: string[] = [];
    const walk = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [name, child] of Object.entries(node)) {
        if (name === '$ref' && resolve(description, String(child)) === undefined) {
          broken.push(String(child));
        } else walk(child);
      }
    };
    walk(description);
    expect(broken).toEqual([]);
  });
});

const resolve = (document: unknown, reference: string): unknown =>
  reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>(
      (node, name) => (node as Record<string, unknown> | undefined)?.[name],
      document,
    );

describe('the measurements of the running server', () => {
  it('the metrics of the running server are shown to the admin key alone', async () => {
    const agent = await world.fund('curious');
    expect((await ask(`${world.url}/metrics`)).status).toBe(401);
    const asAgent = { authorization: `Bearer ${agent.agentKey}` };
    expect((await ask(`${world.url}/metrics`, { headers: asAgent })).status).toBe(401);
    const wrong = { 'x-admin-key': 'wrong' };
    expect((await ask(`${world.url}/metrics`, { headers: wrong })).status).toBe(401);
  });

  it('the metrics cover HTTP, ledger, live voice and process, and count a request and its ledger operations', async () => {
    const agent = await world.fund('measured');
    const before = await figures();
    expect((await askGuide(world.url, agent.agentKey)).status).toBe(200);
    const after = await figures();
    const chat = 'http_requests_total{method="POST",route="/v1/chat/completions",status="200"}';
    expect((after.get(chat) ?? 0) - (before.get(chat) ?? 0)).toBe(1);
    expect(
      (after.get('svc_ledger_operations') ?? 0) - (before.get('svc_ledger_operations') ?? 0),
    ).toBe(2);
    for (const name of [
      'svc_ledger_batches',
      'svc_ledger_waiting',
      'svc_ledger_actors',
      'svc_ledger_shortfalls',
      'svc_voice_sessions',
      'http_sockets_open',
      'http_requests_open',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds',
    ]) {
      expect(after.get(name), name).toBeTypeOf('number');
    }
    expect([...after.keys()].join()).not.toContain(agent.agentKey);
  });
});

/** Every line of the text form, by its name and labels. */
async function figures(): Promise<ReadonlyMap<string, number>> {
  const headers = { 'x-admin-key': world.adminApiKey };
  const told = await ask(`${world.url}/metrics`, { headers });
  expect(told.status).toBe(200);
  expect(told.headers.get('content-type')).toMatch(/^text\/plain/);
  const lines = String(told.body.text).split('\n');
  return new Map(
    lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))] as const;
      }),
  );
}
