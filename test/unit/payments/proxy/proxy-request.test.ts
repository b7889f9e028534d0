import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ProxyRequest } from '../../../../src/payments/proxy/proxy-request.ts';
import { EGRESS_LIMITS } from '../../../../src/platform/egress/limits.ts';

const url = 'https://vendor.example/paid';
const isTaken = (body: unknown) => ProxyRequest.safeParse(body).success;

describe('the body of a proxy call', () => {
  it('the body of a proxy call needs only a URL, and null stands for a missing method and missing headers', () => {
    const bare = { url, method: 'GET', headers: {} };
    expect(ProxyRequest.parse({ url })).toEqual(bare);
    expect(ProxyRequest.parse({ url, method: null, headers: null, body: null })).toEqual({
      ...bare,
      body: null,
    });
  });

  it('the body of a proxy call takes seven HTTP methods in any case, and no other', () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
      expect(ProxyRequest.parse({ url, method: method.toLowerCase() }).method).toBe(method);
    }
    for (const method of ['TRACE', 'CONNECT', 'GET ', 'PROPFIND', '', 1]) {
      expect(isTaken({ url, method }), String(method)).toBe(false);
    }
  });

  it('the body of a proxy call needs an absolute URL and takes addresses that are refused later', () => {
    for (const odd of ['', '/paid', 'vendor.example/paid', '//vendor.example', 'https://', 7]) {
      expect(isTaken({ url: odd }), String(odd)).toBe(false);
    }
    for (const other of [
      'ftp://vendor.example',
      'http://127.0.0.1/',
      'https://u:p@vendor.example',
    ]) {
      expect(isTaken({ url: other }), other).toBe(true);
    }
  });

  it('the JSON schema of a proxy call lists the seven HTTP methods', () => {
    const shape = JSON.stringify(z.toJSONSchema(ProxyRequest, { io: 'input' }));
    expect(shape).toContain('"enum":["GET","POST","PUT","PATCH","DELETE","HEAD","OPTIONS"]');
  });

  it('the body of a proxy call drops unknown members', () => {
    expect(ProxyRequest.parse({ url, timeoutMs: 1 })).not.toHaveProperty('timeoutMs');
  });

  it('the body of a proxy call refuses wrong types, long URLs and too many headers', () => {
    expect(isTaken({})).toBe(false);
    expect(
      isTaken({ url: `https://vendor.example/${'x'.repeat(EGRESS_LIMITS.address.urlChars)}` }),
    ).toBe(false);
    expect(isTaken({ url, headers: ['a: b'] })).toBe(false);
    expect(isTaken({ url, headers: { a: ['b'] } })).toBe(false);
    expect(isTaken({ url, body: 7 })).toBe(false);
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`h${i}`, '']));
    expect(isTaken({ url, headers: many(EGRESS_LIMITS.request.headers) })).toBe(true);
    expect(isTaken({ url, headers: many(EGRESS_LIMITS.request.headers + 1) })).toBe(false);
  });
});
