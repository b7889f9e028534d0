import { describe, expect, it } from 'vitest';
import { createMarketAddress } from '../../../src/marketplace/market-address.ts';

const at = (base: string) => createMarketAddress(() => base);

describe('the address of the marketplace', () => {
  it.each([
    ['https://m.example', 'https://m.example/v1/tts/a', '/v1/tts/a'],
    ['https://m.example/', 'https://M.EXAMPLE:443/v1/tts/a?b=c#d', '/v1/tts/a'],
    ['https://m.example', 'https://m.example./v1/x', '/v1/x'],
    ['https://m.example/shop/', 'https://m.example/shop/v1/x', '/v1/x'],
    ['http://127.0.0.1:3001', 'http://localhost:3001/v1/x', '/v1/x'],
    ['http://localhost:3001', 'http://[::1]:3001/v1/x', '/v1/x'],
    ['https://m.example', 'https://m.example/a/../v1/x', '/v1/x'],
  ])('the marketplace at %s contains the URL %s', (base, url, path) => {
    expect(at(base).pathOf(url)).toBe(path);
  });

  it.each([
    ['https://m.example', 'http://m.example/v1/x'],
    ['https://m.example', 'https://m.example:8443/v1/x'],
    ['https://m.example', 'https://m.example.evil.example/v1/x'],
    ['https://m.example', 'https://evil.example/m.example/v1/x'],
    ['https://m.example', 'https://m.example@evil.example/v1/x'],
    ['https://m.example', 'https://user:pass@m.example/v1/x'],
    ['https://m.example/shop', 'https://m.example/shopping/v1/x'],
    ['https://m.example/shop', 'https://m.example/shop/../v1/x'],
    ['https://m.example', 'https://127.0.0.1/v1/x'],
    ['http://127.0.0.1:3001', 'http://127.0.0.1:3002/v1/x'],
    ['https://m.example', 'no url'],
  ])('the marketplace at %s does not contain the URL %s', (base, url) => {
    expect(at(base).pathOf(url)).toBeUndefined();
  });

  it('the marketplace address has one host and follows the port that the server listens on', () => {
    let base = 'http://127.0.0.1:1';
    const address = createMarketAddress(() => base);
    base = 'http://127.0.0.1:2';
    expect([address.host, address.urlOf('/v1/x')]).toEqual([
      '127.0.0.1',
      'http://127.0.0.1:2/v1/x',
    ]);
    expect(address.pathOf('http://127.0.0.1:1/v1/x')).toBeUndefined();
    expect(at('https://M.example./a/').host).toBe('m.example');
  });
});
