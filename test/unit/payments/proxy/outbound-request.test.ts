import { describe, expect, it } from 'vitest';
import { outboundRequest } from '../../../../src/payments/proxy/outbound-request.ts';
import { ProxyRequest } from '../../../../src/payments/proxy/proxy-request.ts';

const URL = 'https://vendor.example/paid';

const outbound = (fields: object) => outboundRequest(ProxyRequest.parse({ url: URL, ...fields }));

const named = (headers: object) => outbound({ headers }).headers;

describe('a request to a vendor', () => {
  it('a request to a vendor carries the agent’s headers in order, repeated names included', () => {
    expect(named({ 'X-First': '1', Accept: 'text/plain', 'x-first': '2' })).toEqual([
      ['x-first', '1'],
      ['accept', 'text/plain'],
      ['x-first', '2'],
    ]);
  });

  it('a request to a vendor carries no payment header of the agent, in any spelling', () => {
    const names = ['X-PAYMENT', 'x-payment', 'Payment-Signature', 'PAYMENT-SIGNATURE'];
    const answers = ['PAYMENT-REQUIRED', 'Payment-Response', 'X-Payment-Response'];
    for (const name of [...names, ...answers]) expect(named({ [name]: 'eyJ9' }), name).toEqual([]);
  });

  it('a request to a vendor carries no framing, hop-by-hop or `X-Svc-*` headers of the agent', () => {
    const names = ['Host', 'CONTENT-LENGTH', 'Transfer-Encoding', 'connection', 'Keep-Alive', 'TE'];
    const more = ['Trailer', 'Upgrade', 'Expect', 'Proxy-Authorization', 'X-Svc-Task-Id'];
    for (const name of [...names, ...more]) expect(named({ [name]: '1' }), name).toEqual([]);
  });

  it('a request to a vendor carries the headers that the agent’s Connection header names', () => {
    expect(named({ Connection: 'x-mine', 'X-Mine': 'yes' })).toEqual([['x-mine', 'yes']]);
  });

  it('a request to a vendor carries the agent’s own Authorization header', () => {
    expect(named({ Authorization: 'Bearer of the vendor' })).toEqual([
      ['authorization', 'Bearer of the vendor'],
    ]);
  });

  it('a request to a vendor writes number and boolean header values as text and trims all values', () => {
    expect(named({ a: 1, b: true, c: ' x\t' })).toEqual([
      ['a', '1'],
      ['b', 'true'],
      ['c', 'x'],
    ]);
  });

  it('a request to a vendor is refused with 400 for header names or values that are not valid in HTTP', () => {
    const injections = { 'x-a': 'b\r\nx-payment: eyJ9', 'x-b': 'b\nc', 'x-c': 'b\0c', 'x-d': '😀' };
    for (const [name, value] of Object.entries(injections)) {
      expect(() => named({ [name]: value }), name).toThrow(
        expect.objectContaining({ status: 400, error: 'Invalid request' }),
      );
    }
    for (const name of ['', 'a b', 'a:b', 'a\r\nb', 'ä']) {
      expect(() => named({ [name]: '1' }), name).toThrow(expect.objectContaining({ status: 400 }));
    }
    // A payment header stays out even where its value is no value.
    expect(() => named({ 'x-payment': 'a\r\nb' })).toThrow();
  });

  it('a request to a vendor sends a text body unchanged with any method', () => {
    expect(outbound({ method: 'GET', body: 'q=1' })).toMatchObject({ method: 'GET', body: 'q=1' });
    expect(outbound({ method: 'POST', body: '{"a":1}' })).toEqual({
      method: 'POST',
      headers: [],
      body: '{"a":1}',
    });
    expect(outbound({ body: '' }).body).toBeUndefined();
    expect(outbound({ body: null }).body).toBeUndefined();
    expect(outbound({}).body).toBeUndefined();
  });

  it('a request to a vendor sends any other body as JSON, with a JSON content type unless the agent sets one', () => {
    expect(outbound({ body: { a: [1, null] } })).toMatchObject({
      headers: [['content-type', 'application/json']],
      body: '{"a":[1,null]}',
    });
    expect(outbound({ body: [1] }).body).toBe('[1]');
    const headers = { 'Content-Type': 'application/vnd.api+json' };
    expect(outbound({ body: {}, headers })).toMatchObject({
      headers: [['content-type', 'application/vnd.api+json']],
      body: '{}',
    });
  });
});
