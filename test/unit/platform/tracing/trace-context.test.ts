import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTraceContext, traceHeaders } from '../../../../src/platform/tracing/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const PARENT = `00-${TRACE}-${SPAN}-01`;

const read = (traceparent: string, tracestate?: string) =>
  readTraceContext(
    new Map([
      ['traceparent', traceparent],
      ...(tracestate === undefined ? [] : [['tracestate', tracestate] as const]),
    ]),
  );

describe('traceparent', () => {
  it('traceparent is read with its flag, and written as it was', () => {
    const context = read(PARENT);
    expect(context).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true, state: undefined });
    expect(context && traceHeaders(context)).toEqual({ traceparent: PARENT });
    expect(read(PARENT.replace(/01$/, '00'))?.isSampled).toBe(false);
    // Other flags say nothing of sampling.
    expect(read(PARENT.replace(/01$/, '02'))?.isSampled).toBe(false);
    expect(read(PARENT.replace(/01$/, 'ff'))?.isSampled).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['no span', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['upper case', PARENT.toUpperCase()],
    ['a short trace', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['a version that is none', PARENT.replace(/^00/, 'ff')],
    ['more behind version 00', `${PARENT}-more`],
    ['two headers in one', `${PARENT}, ${PARENT}`],
    ['blanks', ` ${PARENT}`],
    ['a line break', `${PARENT}\n`],
    ['an endless version', `01-${TRACE}-${SPAN}-01-${'a'.repeat(100_000)}`],
  ])('traceparent with %s reads as absent', (_, text) => {
    expect(read(text)).toBeUndefined();
  });

  it('traceparent of a later version is read up to the known fields', () => {
    expect(read(`01-${TRACE}-${SPAN}-01-more`)).toMatchObject({ traceId: TRACE, isSampled: true });
    expect(read(`01-${TRACE}-${SPAN}-01more`)).toBeUndefined();
  });

  it('traceparent of any text is refused or written back as a valid one', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        const context = read(text);
        if (context === undefined) return;
        expect(read(traceHeaders(context).traceparent)).toEqual(context);
      }),
    );
  });
});

describe('tracestate', () => {
  it('tracestate goes on as it came, without blanks', () => {
    const state = 'rojo=00f067aa0ba902b7, fw529a3039@dt=FfAz ,';
    expect(read(PARENT, state)?.state).toBe('rojo=00f067aa0ba902b7,fw529a3039@dt=FfAz');
  });

  it.each([
    ['a key in upper case', 'Rojo=1'],
    ['no value', 'rojo='],
    ['no equals sign', 'rojo'],
    ['the same key twice', 'a=1,a=2'],
    ['33 members', Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(',')],
    ['more than 512 characters', `a=${'b'.repeat(250)},c=${'d'.repeat(250)},e=${'f'.repeat(20)}`],
    ['a line break', 'a=b\r\nx-injected: 1'],
    ['bytes beyond ASCII', 'a=ä'],
  ])('tracestate with %s is dropped, and the trace goes on without it', (_, state) => {
    expect(read(PARENT, state)).toMatchObject({ traceId: TRACE, state: undefined });
  });
});
