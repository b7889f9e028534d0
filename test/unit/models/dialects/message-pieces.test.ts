import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StreamBroken } from '../../../../src/models/providers/openai/answer-reader.ts';
import {
  chatOf,
  closed,
  type Event,
  finish,
  GREETING,
  opened,
  ping,
  runMessages,
  says,
  start,
  stop,
  text,
  tool,
  wire,
  writes,
} from '../../../support/anthropic-stream.ts';

/** Cuts bytes at the given places, which may be anywhere. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...at, bytes.length].map((end, i) => bytes.subarray(i === 0 ? 0 : at[i - 1], end));
}

describe('the pieces of a stream', () => {
  const event = fc.oneof(
    fc.string({ unit: 'grapheme' }).map((words) => says(0, words)),
    fc.string({ unit: 'binary' }).map((words) => writes(1, words)),
    fc.constantFrom(ping, opened(0, text), opened(1, tool('a')), closed(1), finish('end_turn')),
    fc.constantFrom<Event>(stop, start(), { type: 'error', error: {} }),
  );
  const stream = fc.record({
    events: fc.oneof(
      fc.constant(GREETING),
      fc.array(event).map((more) => [start(), ...more]),
    ),
    lineEnd: fc.constantFrom('\n', '\r\n'),
    comment: fc.constantFrom('', ': keep-alive\n\n', ':\r\n\r\n', 'retry: 3\nid: 7\n\n', '\n'),
    places: fc.array(fc.nat(), { maxLength: 40 }),
  });

  it('an Anthropic stream reads the same wherever its pieces are cut', async () => {
    await fc.assert(
      fc.asyncProperty(stream, async ({ events, lineEnd, comment, places }) => {
        const bytes = Buffer.concat(
          events.flatMap((one) => [Buffer.from(comment), wire([one], lineEnd)]),
        );
        const whole = await runMessages([bytes]);
        expect(await runMessages(cut(bytes, places))).toEqual(whole);
        expect(whole).toEqual(await runMessages([wire(events)]));
      }),
    );
  });

  it('an Anthropic stream may write events in any form of the event stream format', async () => {
    const spelled = Buffer.from(
      GREETING.map((one) => {
        const rest = JSON.stringify(one).slice(1);
        return `:c\ndata:{\nid: 1\ndata: ${rest}\nevent: x\n\n`;
      }).join(''),
    );
    expect(await runMessages([spelled])).toEqual(await runMessages([wire(GREETING)]));
  });

  it('an Anthropic stream may arrive in pieces of one byte', async () => {
    for (const lineEnd of ['\n', '\r\n']) {
      const bytes = wire(GREETING, lineEnd);
      const single = Array.from(bytes, (byte) => Buffer.of(byte));
      expect(await runMessages(single)).toEqual(await runMessages([wire(GREETING)]));
    }
  });

  it('an Anthropic stream of any bytes ends whole or as broken', async () => {
    const line = fc.oneof(
      fc.json().map((json) => `data: ${json}`),
      fc.string(),
      fc.constant(''),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.boolean(), async (lines, begun) => {
        const bytes = Buffer.from(lines.join('\n'));
        const chat = chatOf(begun ? [wire([start()]), bytes] : [bytes]);
        const read = async () => {
          while ((await chat.next()) !== undefined);
        };
        await expect(read()).rejects.toBeInstanceOf(StreamBroken);
      }),
    );
  });
});
