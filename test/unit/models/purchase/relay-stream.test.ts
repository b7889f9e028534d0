import { describe, expect, it } from 'vitest';
import { relayStream } from '../../../../src/models/purchase/relay-stream.ts';

type Piece = string | Error | Promise<string | undefined>;

/** A stream of these pieces under a form that writes down what it is told. */
function relaying(...pieces: Piece[]) {
  const told: string[] = [];
  const source = {
    async next() {
      const piece = await pieces.shift();
      if (piece instanceof Error) throw piece;
      return piece === undefined ? undefined : Buffer.from(piece);
    },
    stop: () => {
      told.push('stop');
    },
  };
  const say = (word: string) => {
    told.push(word);
    return Buffer.from(`<${word}>`);
  };
  const body = relayStream(source, {
    piece: (bytes) => Buffer.from(String(bytes).toUpperCase()),
    end: async () => say('end'),
    broken: async () => say('broken'),
    async left() {
      say('left');
    },
  });
  return { body, told, reader: body[Symbol.asyncIterator]() };
}

async function all(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const piece of body) text += String(piece);
  return text;
}

describe('a relayed stream', () => {
  it('a relayed stream is sent in its format and with its end', async () => {
    const { body, told } = relaying('a', 'b');
    expect([await all(body), told]).toEqual(['AB<end>', ['end']]);
  });

  it('a relayed stream that breaks ends with its error and nothing after it', async () => {
    const { body, told } = relaying('a', new Error('gone'), 'b');
    expect([await all(body), told]).toEqual(['A<broken>', ['broken']]);
  });

  it('a relayed stream whose client leaves is stopped once and not ended, even before its first piece', async () => {
    const { reader, told } = relaying('a');
    await reader.return?.();
    await reader.return?.();
    expect([await reader.next(), told]).toEqual([
      { done: true, value: undefined },
      ['stop', 'left'],
    ]);
  });

  it.each([
    ['ends', undefined],
    ['comes', 'late'],
    ['breaks', new Error('stopped')],
  ])(
    'a relayed stream whose client leaves while a piece is awaited is over even when that piece %s',
    async (_, piece) => {
      let arrive = (_piece: string | undefined) => {};
      let fail = (_error: Error) => {};
      const awaited = new Promise<string | undefined>((resolve, reject) => {
        arrive = resolve;
        fail = reject;
      });
      const { reader, told } = relaying(awaited);
      const pending = reader.next();
      await reader.return?.();
      if (piece instanceof Error) fail(piece);
      else arrive(piece);
      expect([await pending, told]).toEqual([{ done: true, value: undefined }, ['stop', 'left']]);
    },
  );
});
