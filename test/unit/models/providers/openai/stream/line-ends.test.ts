import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineEnds } from '../../../../../../src/models/providers/openai/stream/line-ends.ts';

const read = (...pieces: readonly string[]): string[] => {
  const ends = new LineEnds();
  return pieces.map((piece) => ends.push(Buffer.from(piece, 'latin1')).toString('latin1'));
};

describe('the bytes of an event stream', () => {
  it('an event stream loses a byte order mark at its beginning alone, wherever it is cut', () => {
    expect(read('\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbf')).toEqual(['data: 1\n\n\xef\xbb\xbf']);
    expect(read('\xef', '\xbb', '\xbfdata')).toEqual(['', '', 'data']);
    expect(read('\xef', '\xbbdata')).toEqual(['', '\xef\xbbdata']);
    expect(read('')).toEqual(['']);
  });

  it('an event stream’s lone carriage returns become line feeds, and its other line ends stay', () => {
    expect(read('data: 1\r\rdata: 2\r\n\r\n')).toEqual(['data: 1\n\ndata: 2\n\n']);
    expect(read('data: 1\r\n\r', '\ndata: 2\r', 'data: 3\r', '', '\n')).toEqual([
      'data: 1\r\n',
      '\r\ndata: 2',
      '\ndata: 3\n',
      '',
      '',
    ]);
  });

  it('an event stream’s carriage returns with line feeds stay, wherever they are cut', () => {
    const text = 'data: 1\r\n\r\ndata: 2\r\n\r\n';
    for (const bytes of [1, 2, 3, 7]) {
      const pieces = text.match(new RegExp(`[^]{1,${bytes}}`, 'g')) ?? [];
      expect(read(...pieces).join('')).toBe(text);
    }
  });

  it('an event stream has the same lines wherever it is cut', () => {
    const signs = fc.array(fc.constantFrom('a', '\r', '\n', '\xef'), { maxLength: 30 });
    fc.assert(
      fc.property(signs, fc.array(fc.nat(30)), (text, cuts) => {
        const whole = `${text.join('')}a`;
        const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)), whole.length];
        places.sort((a, b) => a - b);
        const pieces = places.slice(1).map((to, i) => whole.slice(places[i], to));
        const lines = (said: readonly string[]) =>
          said
            .join('')
            .replace(/\r\n|\r/g, '\n')
            .replace(/\n{3,}/g, '\n\n');
        // A first byte of the mark without the rest is held back until more comes.
        fc.pre(!/^\xef?a?$/.test(whole));
        expect(lines(read(...pieces))).toBe(lines([whole]));
      }),
    );
  });

  it('an event stream’s bytes are not copied when nothing changes', () => {
    const piece = Buffer.from('data: 1\r\n\r\n');
    expect(new LineEnds().push(piece)).toBe(piece);
  });
});
