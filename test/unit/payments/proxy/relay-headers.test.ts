import { describe, expect, it } from 'vitest';
import {
  PASSED_THROUGH,
  paidHeaders,
  relayedHeaders,
} from '../../../../src/payments/proxy/relay-headers.ts';

const names = (lines: readonly (readonly [string, string])[]) =>
  relayedHeaders(lines).map(([name]) => name);

describe('the headers of a vendor', () => {
  it('a vendor’s headers are relayed in order, repeated names included', () => {
    expect(
      relayedHeaders([
        ['Content-Type', 'application/json'],
        ['Set-Cookie', 'a=1; Path=/'],
        ['X-Vendor', 'x'],
        ['Set-Cookie', 'b=2'],
        ['PAYMENT-RESPONSE', 'eyJ9'],
        ['x-vendor', 'y'],
      ]),
    ).toEqual([
      ['content-type', 'application/json'],
      ['set-cookie', 'a=1; Path=/'],
      ['x-vendor', 'x'],
      ['set-cookie', 'b=2'],
      ['payment-response', 'eyJ9'],
      ['x-vendor', 'y'],
    ]);
  });

  it('a vendor’s headers never include those that this server sets', () => {
    const forged = ['X-Svc-Cost-USDC', 'x-svc-payment', 'X-SVC-Budget-Advisory', 'X-Request-Id'];
    const more = ['X-RateLimit-Limit', 'Access-Control-Allow-Origin'];
    expect(names([...forged, ...more].map((name) => [name, '0']))).toEqual([]);
  });

  it('a vendor’s Retry-After, Retry-After-Ms and X-Should-Retry headers are relayed', () => {
    const words = ['Retry-After', 'Retry-After-Ms', 'X-Should-Retry'];
    expect(names(words.map((name) => [name, '1']))).toEqual(words.map((w) => w.toLowerCase()));
  });

  it('a vendor’s framing and hop-by-hop headers are not relayed', () => {
    const framing = ['Content-Length', 'Transfer-Encoding', 'Connection', 'Keep-Alive', 'Trailer'];
    const hop = ['TE', 'Upgrade', 'Proxy-Authenticate', 'Proxy-Connection', 'Date', 'Server'];
    expect(names([...framing, ...hop].map((name) => [name, 'x']))).toEqual([]);
  });

  it('headers that a vendor’s Connection header names are not relayed, in any case and over several lines', () => {
    expect(
      names([
        ['X-Hop', '1'],
        ['Connection', 'close, X-HOP'],
        ['connection', ' x-other '],
        ['X-Other', '1'],
        ['X-Kept', '1'],
      ]),
    ).toEqual(['x-kept']);
  });

  it('a vendor’s headers with invalid names or values are not relayed, and Latin-1 bytes are kept', () => {
    expect(
      relayedHeaders([
        ['X-Split', 'a\r\nset-cookie: b'],
        ['X Space', 'a'],
        ['X-Latin', 'caf\xe9'],
        ['X-Empty', ''],
      ]),
    ).toEqual([
      ['x-latin', 'caf\xe9'],
      ['x-empty', ''],
    ]);
  });

  it('a vendor cannot set the session cookie of this server', () => {
    expect(
      relayedHeaders([
        ['Set-Cookie', 'svc_session=a.b.c; Path=/'],
        ['Set-Cookie', ' SVC_SESSION =a'],
        ['Set-Cookie', 'other=svc_session'],
      ]),
    ).toEqual([['set-cookie', 'other=svc_session']]);
  });
});

describe('the receipt', () => {
  it('the response headers of a paid call have the raw amount and dollars with six decimals', () => {
    expect(paidHeaders(10_000n, undefined)).toEqual({
      'x-svc-cost-usdc': '10000',
      'x-svc-payment-amount': '0.010000',
      'x-svc-payment': 'paid',
    });
    expect(paidHeaders(2n ** 63n - 1n, '{}')).toMatchObject({
      'x-svc-payment-amount': '9223372036854.775807',
      'x-svc-budget-advisory': '{}',
    });
  });

  it('the response headers of a free call say that it cost nothing', () => {
    expect(PASSED_THROUGH).toEqual({ 'x-svc-cost-usdc': '0', 'x-svc-payment': 'passthrough' });
  });
});
