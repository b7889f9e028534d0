import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { ProxyRequest } from '../../../../src/payments/proxy/proxy-request.ts';

const url = 'https://vendor.example/paid';
const isTaken = (body: unknown) => ProxyRequest.safeParse(body).success;

describe('the body of a proxy call', () => {
  it('needs nothing but a URL; what clients send as null is not there', () => {
    const bare = { url, method: 'GET', headers: {} };
    expect(ProxyRequest.parse({ url })).toEqual(bare);
    expect(ProxyRequest.parse({ url, method: null, headers: null, body: null })).toEqual({
      ...bare,
      body: null,
    });
  });

  it('takes every verb in any case, and no other word', () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
      expect(ProxyRequest.parse({ url, method: method.toLowerCase() }).method).toBe(method);
    }
    for (const method of ['TRACE', 'CONNECT', 'GET ', 'PROPFIND', '', 1]) {
      expect(isTaken({ url, method }), String(method)).toBe(false);
    }
  });

  it('needs an absolute URL; what may be called is not judged here', () => {
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

  it('is described with the verbs that it takes', () => {
    const shape = JSON.stringify(z.toJSONSchema(ProxyRequest, { io: 'input' }));
    expect(shape).toContain('"enum":["GET","POST","PUT","PATCH","DELETE","HEAD","OPTIONS"]');
  });

  it('ignores what it does not know', () => {
    expect(ProxyRequest.parse({ url, timeoutMs: 1 })).not.toHaveProperty('timeoutMs');
  });

  it('refuses other shapes', () => {
    expect(isTaken({})).toBe(false);
    expect(isTaken({ url: `https://vendor.example/${'x'.repeat(LIMITS.outboundUrlChars)}` })).toBe(
      false,
    );
    expect(isTaken({ url, headers: ['a: b'] })).toBe(false);
    expect(isTaken({ url, headers: { a: ['b'] } })).toBe(false);
    expect(isTaken({ url, body: 7 })).toBe(false);
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`h${i}`, '']));
    expect(isTaken({ url, headers: many(LIMITS.outboundRequestHeaders) })).toBe(true);
    expect(isTaken({ url, headers: many(LIMITS.outboundRequestHeaders + 1) })).toBe(false);
  });
});
