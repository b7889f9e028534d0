import { describe, expect, it } from 'vitest';
import { EGRESS_LIMITS } from '../../../../src/platform/egress/limits.ts';
import {
  endToEndHeaders,
  type Header,
  outgoingHeaders,
} from '../../../../src/platform/egress/request-headers.ts';
import { BadRequestHeader } from '../../../../src/platform/egress/send-failed.ts';

const KEPT: readonly Header[] = [
  ['X-A', '1'],
  ['accept', '*/*'],
  ['x-a', '2'],
  ['PAYMENT-SIGNATURE', 'e30='],
];

describe('end-to-end headers', () => {
  it('end-to-end headers keep order, spelling and repetitions, without hop-by-hop headers', () => {
    const hop: readonly Header[] = [
      ['Connection', 'X-Named, keep-alive'],
      ['connection', ' x-also '],
      ['x-named', 'gone'],
      ['X-Also', 'gone'],
      ['Keep-Alive', 'timeout=5'],
      ['TE', 'trailers'],
      ['Trailer', 'x'],
      ['Transfer-Encoding', 'chunked'],
      ['Upgrade', 'h2c'],
      ['HTTP2-Settings', 'x'],
      ['Proxy-Authorization', 'x'],
      ['proxy-connection', 'x'],
      ['Proxy-Authenticate', 'x'],
    ];
    expect(endToEndHeaders([...hop, ...KEPT, ...hop])).toEqual(KEPT);
  });

  it('end-to-end headers of a response keep its Content-Length', () => {
    const headers: readonly Header[] = [['Content-Length', '5']];
    expect(endToEndHeaders(headers)).toEqual(headers);
  });
});

describe('outgoing headers', () => {
  it('outgoing headers leave out Host, Content-Length and Expect', () => {
    const framing: readonly Header[] = [
      ['Host', 'other.example'],
      ['content-length', '5'],
      ['Expect', '100-continue'],
    ];
    expect(outgoingHeaders([...framing, ...KEPT])).toEqual(KEPT);
  });

  it('outgoing headers are refused for line breaks, control characters or invalid names', () => {
    const values = [
      'a\r\nb: c',
      'a\nb',
      'a\rb',
      'a\0b',
      '\u0100',
      '\u{1f511}',
      'a\u007fb',
      '\u0001',
      '\ud800',
    ];
    for (const value of values) {
      expect(() => outgoingHeaders([['x-a', value]]), JSON.stringify(value)).toThrow(
        BadRequestHeader,
      );
    }
    for (const name of ['', ' ', 'x a', 'x:', 'x\r\n', 'x\0', 'é', '(x)', 'x,y']) {
      expect(() => outgoingHeaders([[name, 'a']]), JSON.stringify(name)).toThrow(BadRequestHeader);
    }
    // Also where it would have been left out: the client need not know which headers those are.
    expect(() => outgoingHeaders([['connection', 'a\nb']])).toThrow(BadRequestHeader);
  });

  it('outgoing headers carry any byte that a value may hold', () => {
    const headers: readonly Header[] = [['x-a', '\t !~\u0080\u00ff']];
    expect(outgoingHeaders(headers)).toEqual(headers);
  });

  it('outgoing headers are limited in number and in size', () => {
    const many = (count: number) => Array.from({ length: count }, (): Header => ['x-a', 'b']);
    expect(outgoingHeaders(many(EGRESS_LIMITS.request.headers))).toHaveLength(
      EGRESS_LIMITS.request.headers,
    );
    expect(() => outgoingHeaders(many(EGRESS_LIMITS.request.headers + 1))).toThrow(
      BadRequestHeader,
    );
    const fits = EGRESS_LIMITS.request.headerBytes - 'x-a'.length - 4;
    expect(outgoingHeaders([['x-a', 'b'.repeat(fits)]])).toHaveLength(1);
    expect(() => outgoingHeaders([['x-a', 'b'.repeat(fits + 1)]])).toThrow(BadRequestHeader);
  });
});
