import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceComments } from '../../../../../src/models/purchase/stream-end.ts';
import { eventTexts } from '../../../../../src/models/responses/connection/event-texts.ts';

describe('the messages of a piece of a stream', () => {
  it('`eventTexts` returns the data of each event of a stream piece, in order, with either line end', () => {
    const values = fc.array(fc.jsonValue(), { maxLength: 5 });
    fc.assert(
      fc.property(values, fc.constantFrom('\n', '\r\n'), fc.boolean(), (all, end, isNamed) => {
        const lines = all.map((value) => {
          const name = isNamed ? `event: x${end}` : '';
          return `${name}data: ${JSON.stringify(value)}${end}${end}`;
        });
        const texts = eventTexts(Buffer.from(lines.join('')));
        expect(texts).toEqual(all.map((value) => JSON.stringify(value)));
      }),
    );
  });

  it('`eventTexts` leaves out comments and joins the data lines of one event', () => {
    const piece = Buffer.concat([
      priceComments({ chargedRaw: 5n }),
      Buffer.from(':\n\ndata: {"a":\ndata: 1}\n\n'),
    ]);
    expect(eventTexts(piece).map((text) => JSON.parse(text) as unknown)).toEqual([{ a: 1 }]);
  });
});
