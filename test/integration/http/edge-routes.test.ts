import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createApiDescription } from '../../../src/http/server/api-description.ts';
import { createHealthChecks } from '../../../src/http/server/health-checks.ts';
import { createMetrics } from '../../../src/http/server/metrics.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createFetch } from '../../../src/platform/egress/fetch.ts';
import { capabilities } from '../../../src/routes/capabilities.ts';
import { health } from '../../../src/routes/health.ts';
import { markets } from '../../../src/routes/markets.ts';
import { metrics as metricsRoute } from '../../../src/routes/metrics.ts';
import { openapi } from '../../../src/routes/openapi.ts';
import { bearer, type Edge, KEYS, startEdge } from '../../support/edge.ts';

const routes = [health, markets, capabilities, openapi, metricsRoute];
const database = { isUp: true };
const metrics = createMetrics({ withProcess: true });

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({
    routes,
    metrics,
    services: {
      metrics,
      apiDescription: createApiDescription({ routes, sockets: [] }),
      capabilities: { gateway: true, telephony: false },
      health: createHealthChecks(systemClock, {
        async db() {
          if (!database.isUp) throw new Error('gone');
        },
        managedWallet: () => Promise.reject(new Error('away')),
        indexer: undefined,
      }),
    },
  });
});
afterAll(async () => {
  await edge[Symbol.asyncDispose]();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(edge.url + path, { headers });

describe('the public routes', () => {
  it('the health route answers 200 while degraded, and 503 only when the database is down', async () => {
    const degraded = await get('/v1/health');
    expect(degraded.status).toBe(200);
    expect(await degraded.json()).toMatchObject({
      status: 'degraded',
      checks: {
        db: { status: 'ok' },
        managed_wallet: { status: 'degraded' },
        indexer: { status: 'skipped' },
      },
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    database.isUp = false;
    await expect.poll(async () => (await get('/v1/health')).status, { timeout: 3_000 }).toBe(503);
    database.isUp = true;
  });

  it('the markets route returns an empty list, and the capabilities route returns booleans with the version', async () => {
    expect(await (await get('/v1/markets')).json()).toEqual({ markets: [] });
    expect(await (await get('/v1/capabilities')).json()).toEqual({
      version: '1.0.0',
      capabilities: { gateway: true, telephony: false },
    });
  });

  it('the OpenAPI description is served as YAML and contains every route', async () => {
    const answer = await get('/.well-known/openapi.yaml');
    expect(answer.headers.get('content-type')).toContain('yaml');
    const document = parse(await answer.text()) as { paths: Record<string, unknown> };
    expect(Object.keys(document.paths)).toEqual(routes.map(({ path }) => path));
  });
});

describe('the metrics', () => {
  it('the metrics are for the operator alone, and count requests by route template', async () => {
    expect((await get('/metrics')).status).toBe(401);
    expect((await get('/metrics', bearer(KEYS.developer))).status).toBe(401);
    await get('/v1/no-such/123');
    const answer = await get('/metrics', { 'x-admin-key': KEYS.admin });
    expect(answer.headers.get('content-type')).toContain('text/plain');
    const text = await answer.text();
    expect(text).toMatch(
      /http_requests_total\{method="GET",route="\/v1\/markets",status="200"\} 1/,
    );
    expect(text).toContain('route="unmatched",status="404"');
    expect(text).not.toContain('no-such');
    for (const name of ['svc_overhead_ms_count', 'http_sockets_open 0', 'nodejs_eventloop_lag']) {
      expect(text).toContain(name);
    }
  });
});

describe('the outbound door', () => {
  it('an outbound request follows no redirect, and is aborted past its time and size limits', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/elsewhere' }).end();
      else if (request.url === '/large') response.end(Buffer.alloc(100_000));
      else if (request.url !== '/silent') response.end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const door = createFetch();
    const ask = (path: string) =>
      door.fetch({
        url: `http://127.0.0.1:${port}${path}`,
        method: 'GET',
        timeoutMs: 300,
        maxResponseBytes: 1_000,
      });
    try {
      expect(Buffer.from((await ask('/fine')).body).toString()).toBe('ok');
      expect((await ask('/moved')).status).toBe(302);
      await expect(ask('/large')).rejects.toThrow('1000 bytes');
      await expect(ask('/silent')).rejects.toThrow();
    } finally {
      await door.close();
      server.closeAllConnections();
      server.close();
    }
  });
});
