import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RATE_LIMITS } from '../../../src/rate-limit/limits.ts';
import { proxyCheck } from '../../../src/routes/proxy/check.ts';
import { type EvilVendor, startEvilVendor } from '../../support/chain/evil-vendor.ts';
import { ask, startWorld, type Told, type WholeWorld } from '../../support/whole-world.ts';

let world: WholeWorld;
let vendor: EvilVendor;
beforeAll(async () => {
  world = await startWorld({ SSRF_ALLOW_LOCALHOST: '1', TRUSTED_PROXIES: '127.0.0.0/8' });
  vendor = await startEvilVendor();
});
afterAll(async () => {
  await vendor[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

let askers = 0;

/** Asks from an address that has never asked before. */
function check(target: string | undefined, at = world, headers: Record<string, string> = {}) {
  const from = { 'x-forwarded-for': `203.0.113.${++askers}` };
  const query = target === undefined ? '' : `?url=${encodeURIComponent(target)}`;
  return ask(`${at.url}/v1/proxy/check${query}`, { headers: { ...from, ...headers } });
}

const named = ({ status, body }: Told) => [status, body.error, body.code];

describe('GET /v1/proxy/check', () => {
  it('GET /v1/proxy/check shows any caller the demand of a vendor of either x402 version, in each form of a demand', async () => {
    const forms = [
      [2, { version: 2 }],
      [1, { version: 1, form: 'body' }],
      [1, { version: 1, form: 'header' }],
      [1, { version: 1, form: 'array' }],
    ] as const;
    for (const [x402Version, shape] of forms) {
      const url = vendor.sell({
        priceRaw: 12_345n,
        unpaid: { answer: { kind: 'challenge', ...shape } },
      });
      const { status, body } = await check(url);
      expect([status, body], JSON.stringify(shape)).toMatchObject([
        200,
        {
          x402: true,
          status: 402,
          x402Version,
          payment: { amount: '12345', network: 'eip155:8453', scheme: 'exact' },
        },
      ]);
      // Exactly what the description of the interface promises.
      expect(proxyCheck.response?.parse(body)).toEqual(body);
      expect(vendor.seen(url)).toMatchObject([{ method: 'GET', payment: undefined }]);
    }
  });

  it('GET /v1/proxy/check reports no demand for any other vendor response, and does not download its body', async () => {
    const answers = [
      [200, { kind: 'endless' }],
      [200, { kind: 'answer' }],
      [404, { kind: 'answer', status: 404 }],
      [302, { kind: 'redirect', location: 'http://169.254.169.254/' }],
      [402, { kind: 'answer', status: 402, body: 'Pay!' }],
    ] as const;
    for (const [status, answer] of answers) {
      const startedMs = performance.now();
      const told = await check(vendor.sell({ unpaid: { answer } }));
      expect([told.status, told.body]).toEqual([
        200,
        { x402: false, status, message: expect.stringContaining(String(status)) },
      ]);
      expect(performance.now() - startedMs).toBeLessThan(3_000);
    }
  });

  it('GET /v1/proxy/check reports with a code which part of a demand is unreadable', async () => {
    const demanding = (shape: object) =>
      check(vendor.sell({ unpaid: { answer: { kind: 'challenge', ...shape } } }));
    const refused = 'Failed to parse PAYMENT-REQUIRED header';
    expect(named(await demanding({ headerText: '***' }))).toEqual([502, refused, 'invalid_base64']);
    expect(named(await demanding({ headerText: 'e30' }))).toEqual([
      502,
      refused,
      'no_compatible_requirement',
    ]);
    expect(named(await demanding({ headerText: 'ew==' }))).toEqual([502, refused, 'invalid_json']);
    for (const offer of [
      { network: 'eip155:1' },
      { scheme: 'upto' },
      { asset: `0x${'1'.repeat(40)}` },
    ]) {
      expect(named(await demanding({ offer }))).toEqual([
        502,
        refused,
        'no_compatible_requirement',
      ]);
    }
  });

  it('GET /v1/proxy/check refuses an invalid URL, and a request without a URL', async () => {
    for (const target of [
      undefined,
      '',
      'vendor',
      '/paid',
      'http://',
      `https://a/${'x'.repeat(9_000)}`,
    ]) {
      const told = await check(target);
      expect([told.status, told.body.error], String(target)).toEqual([400, 'Invalid request']);
      expect(told.body.details).toMatchObject([{ path: ['url'] }]);
    }
  });

  it('GET /v1/proxy/check reports that the target does not respond, without its address or the reason', async () => {
    const silent = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const broken = await check(`http://localhost:${port}/`);
    await new Promise((resolve) => silent.close(resolve));
    const away = await check(`http://localhost:${port}/`);
    for (const told of [broken, away]) {
      expect([told.status, told.body.error]).toEqual([502, 'Failed to reach target URL']);
      expect(JSON.stringify(told.body)).not.toMatch(/127\.0\.0\.1|::1|ECONN/);
    }
  });

  it('GET /v1/proxy/check needs no credential, and ignores one', async () => {
    const told = await check(vendor.sell(), world, { authorization: 'Bearer svc_nobody' });
    expect([told.status, told.body.x402]).toEqual([200, true]);
  });

  it('GET /v1/proxy/check is rate-limited by the address of its caller alone', async () => {
    const from = { 'x-forwarded-for': '203.0.113.250' };
    const url = `${world.url}/v1/proxy/check?url=x`;
    const statuses: number[] = [];
    for (let i = 0; i < RATE_LIMITS.usual.ipPerMinute; i++)
      statuses.push((await ask(url, { headers: from })).status);
    expect(new Set(statuses)).toEqual(new Set([400]));
    const refused = await ask(url, { headers: from });
    expect([refused.status, refused.body]).toMatchObject([
      429,
      { error: 'rate_limit_exceeded', reason: 'ip_rate_limit', limit_per_minute: 60, remaining: 0 },
    ]);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await check('x')).status).toBe(400);
  });
});

describe('a check of a place that is not called', () => {
  it('a proxy check of a blocked destination is refused, and no request is sent', async () => {
    await using strict = await startWorld({ TRUSTED_PROXIES: '127.0.0.0/8' });
    const own = new URL(vendor.sell());
    const targets = [
      own.href,
      `http://localhost:${own.port}${own.pathname}`,
      `http://[::1]:${own.port}/`,
      'http://169.254.169.254/latest/meta-data/',
      'http://10.0.0.1/',
      'http://0x7f.1/',
      'file:///etc/passwd',
      'http://user:pass@vendor.example/',
    ];
    for (const target of targets) {
      const told = await check(target, strict);
      expect([told.status, told.body.error], target).toEqual([400, 'blocked_destination']);
    }
    expect(vendor.seen(own.href)).toEqual([]);
  });
});
