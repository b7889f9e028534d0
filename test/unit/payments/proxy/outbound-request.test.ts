import { describe, expect, it } from 'vitest';
import { outboundRequest } from '../../../../src/payments/proxy/outbound-request.ts';
import { ProxyRequest } from '../../../../src/payments/proxy/proxy-request.ts';

const URL = 'https://vendor.example/paid';

const outbound = (fields: object) => outboundRequest(ProxyRequest.parse({ url: URL, ...fields }));

const named = (headers: object) => outbound({ headers }).headers;

describe('a request to a vendor', () => {
  it('carries the headers of the agent, in order, those of one name both', () => {
    expect(named({ 'X-First': '1', Accept: 'text/plain', 'x-first': '2' })).toEqual([
      ['x-first', '1'],
      ['accept', 'text/plain'],
      ['x-first', '2'],
    ]);
  });

  it('carries no payment of the agent, however its header is written', () => {
    const names = ['X-PAYMENT', 'x-payment', 'Payment-Signature', 'PAYMENT-SIGNATURE'];
    const answers = ['PAYMENT-REQUIRED', 'Payment-Response', 'X-Payment-Response'];
    for (const name of [...names, ...answers]) expect(named({ [name]: 'eyJ9' }), name).toEqual([]);
  });

  it('carries nothing that frames the message, speaks to the next hop or is said to this server', () => {
    const names = ['Host', 'CONTENT-LENGTH', 'Transfer-Encoding', 'connection', 'Keep-Alive', 'TE'];
    const more = ['Trailer', 'Upgrade', 'Expect', 'Proxy-Authorization', 'X-Svc-Task-Id'];
    for (const name of [...names, ...more]) expect(named({ [name]: '1' }), name).toEqual([]);
  });

  it('carries what a Connection header of the agent names: it is about no connection that there is', () => {
    expect(named({ Connection: 'x-mine', 'X-Mine': 'yes' })).toEqual([['x-mine', 'yes']]);
  });

  it('passes the agent’s own credential for the vendor on', () => {
    expect(named({ Authorization: 'Bearer of the vendor' })).toEqual([
      ['authorization', 'Bearer of the vendor'],
    ]);
  });

  it('takes numbers and truth values for their text, and trims what surrounds a value', () => {
    expect(named({ a: 1, b: true, c: ' x\t' })).toEqual([
      ['a', '1'],
      ['b', 'true'],
      ['c', 'x'],
    ]);
  });

  it('is refused where a header would begin another line, or is no header', () => {
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

  it('sends a text as it is, with any verb', () => {
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

  it('makes JSON of anything that is no text, and says so where the agent does not', () => {
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
