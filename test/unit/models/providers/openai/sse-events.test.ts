import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import { SseEvents } from '../../../../../src/models/providers/openai/sse-events.ts';

/** Cuts bytes behind each of the places. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length];
  ends.sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

const line = fc.oneof(
  fc.constantFrom('', 'data: {"a":1}', ': ping', 'event: x', 'data: [DONE]', 'data: 世界🎉', '\r'),
  fc.string(),
);
const end = fc.constantFrom('\n', '\r\n');
const text = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(''));

describe('server-sent events', () => {
  it('server-sent events come out whole and byte for byte, wherever the chunks end', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(1_000)), (written, places) => {
        const bytes = Buffer.from(written);
        const whole = new SseEvents();
        const expected = whole.push(bytes).map((event) => event.toString());
        const cut = new SseEvents();
        const events = cutAt(bytes, places).flatMap((chunk) => cut.push(chunk));
        expect(events.map((event) => event.toString())).toEqual(expected);
        expect(Buffer.concat([...events, cut.rest()])).toEqual(bytes);
        for (const event of events) expect(event.toString()).toMatch(/(^|\n)\r?\n$/);
      }),
    );
  });

  it('server-sent events are separated at blank lines', () => {
    const events = new SseEvents();
    const chunk = Buffer.from('data: 1\ndata: 2\n\n: ping\n\ndata: 3\r\n\r\ndata: 4');
    expect(events.push(chunk).map((event) => event.toString())).toEqual([
      'data: 1\ndata: 2\n\n',
      ': ping\n\n',
      'data: 3\r\n\r\n',
    ]);
    expect(events.rest().toString()).toBe('data: 4');
  });

  it('a server-sent event above the size limit is refused', () => {
    const events = new SseEvents();
    const half = Buffer.alloc(MODEL_LIMITS.upstream.sseEventBytes / 2, 'x');
    expect(events.push(half)).toEqual([]);
    expect(events.push(half)).toEqual([]);
    expect(() => events.push(Buffer.from('x'))).toThrow('larger than');
  });
});
