import { describe, expect, it } from 'vitest';
import { requireWebhookUrl } from '../../../../src/phone/voice/webhook-url.ts';
import { createDestinationGuard } from '../../../../src/platform/egress/destination-guard.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const PLACES: Readonly<Record<string, readonly string[]>> = {
  'example.com': ['93.184.216.34'],
  'inside.example.com': ['10.0.0.1'],
};

const deps = (allowLocalhost: boolean) => ({
  guard: createDestinationGuard({
    resolve: async (host) => PLACES[host] ?? [],
    clock: new ManualClock(),
    allowLocalhost,
    domainAllowlist: [],
    needsTls: true,
  }),
});

const outcome = (url: string, allowLocalhost = false) =>
  requireWebhookUrl(deps(allowLocalhost), url).catch((error: { error: string }) => error.error);

describe('the URL of a voice webhook', () => {
  it.each([
    ['https://example.com/hook?secret=1', 'https://example.com/hook?secret=1'],
    ['WSS://Example.com:8443/relay', 'wss://example.com:8443/relay'],
    ['https://example.com', 'https://example.com/'],
  ])('the voice webhook URL %s is kept as %s', async (url, kept) => {
    expect(await outcome(url)).toBe(kept);
  });

  it.each([
    'http://example.com/',
    'ws://example.com/',
    'ftp://example.com/',
    'example.com',
    'javascript:alert(1)',
    'https:example.com',
    'wss://user:pass@example.com/',
    'https://inside.example.com/',
    'wss://inside.example.com/',
    'https://169.254.169.254/latest',
    'wss://127.0.0.1/',
    'https://nowhere.example.com/',
    'https://example.com:22/',
    'https://example.com/\nx',
  ])('the voice webhook URL %j is refused', async (url) => {
    expect(await outcome(url)).toBe('invalid_webhook_url');
  });

  it('a plain http voice webhook URL of a public name is refused also when this server allows local destinations', async () => {
    expect(await outcome('http://example.com/', true)).toBe('invalid_webhook_url');
    expect(await outcome('ws://example.com/', true)).toBe('invalid_webhook_url');
    expect(await outcome('http://93.184.216.34/', true)).toBe('invalid_webhook_url');
  });

  it('the voice webhook URL may be plain and local when this server allows local destinations', async () => {
    expect(await outcome('ws://127.0.0.1:9000/relay', true)).toBe('ws://127.0.0.1:9000/relay');
    expect(await outcome('http://inside.example.com/', true)).toBe('http://inside.example.com/');
  });
});
