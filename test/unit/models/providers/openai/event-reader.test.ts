import { describe, expect, it } from 'vitest';
import { soon } from '../../../../../src/kernel/clock.ts';
import { turnForLongWork } from '../../../../../src/kernel/long-work.ts';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import { StreamBroken } from '../../../../../src/models/providers/openai/answer-reader.ts';
import { EventReader } from '../../../../../src/models/providers/openai/event-reader.ts';
import { openedAnswer } from '../../../../support/opened-answer.ts';

/** Reads an answer of these pieces. */
function reading(...pieces: (string | Error)[]) {
  const { answer, told } = openedAnswer(...pieces);
  const reader = new EventReader(answer);
  const read = async () => (await reader.read())?.map((event) => event.toString());
  return { reader, told, read };
}

describe('the events of an answer', () => {
  it('the event reader returns events as the pieces complete them, until the response ends', async () => {
    const { read, told } = reading('data: 1\n\ndata', ': 2', '\n\n');
    expect([await read(), await read(), await read()]).toEqual([
      ['data: 1\n\n'],
      [],
      ['data: 2\n\n'],
    ]);
    expect([await read(), told.stops]).toEqual([undefined, 0]);
  });

  it('the event reader accepts a byte order mark and lines that end with a carriage return alone', async () => {
    const { read } = reading('\ufeffdata: 1\r\rda', 'ta: 2\r', '\r');
    expect([await read(), await read(), await read()]).toEqual([
      ['data: 1\n\n'],
      [],
      ['data: 2\n\n'],
    ]);
  });

  it('the event reader throws StreamBroken when the response breaks', async () => {
    const { read } = reading('data: 1\n\n', new Error('gone'));
    await read();
    await expect(read()).rejects.toThrow(new StreamBroken('it broke off'));
  });

  it('the event reader does not wait for other long work when its upstream is slow', async () => {
    const { sseEventsPerTurn: most } = MODEL_LIMITS.upstream;
    const { answer } = openedAnswer();
    async function* slowly() {
      for (let nth = 0; nth < 2 * most; nth++) {
        yield Buffer.from('data: x\n\n');
        await new Promise<void>(soon);
      }
    }
    const reader = new EventReader({ ...answer, body: slowly() });
    let worked = 0;
    const work = Array.from({ length: 10 * most }, () => turnForLongWork().then(() => worked++));
    while ((await reader.read()) !== undefined);
    expect(worked).toBeLessThan(3 * most);
    await Promise.all(work);
  });

  it('the event reader yields to the event loop when very many events have arrived', async () => {
    const { sseEventsPerTurn: most } = MODEL_LIMITS.upstream;
    const { reader } = reading(...Array.from({ length: 3 * most }, () => 'data: x\n\n'));
    const read: number[] = [];
    let inTurn = 0;
    let isOver = false;
    const countTurns = () => {
      read.push(inTurn);
      inTurn = 0;
      if (!isOver) soon(countTurns);
    };
    soon(countTurns);
    for (let events = await reader.read(); events; events = await reader.read()) {
      inTurn += events.length;
    }
    isOver = true;
    await new Promise<void>(soon);
    expect(Math.max(...read)).toBe(most);
  });

  it('the event reader ends and stops its upstream at an event that is too large', async () => {
    const { read, reader, told } = reading('x'.repeat(MODEL_LIMITS.upstream.sseEventBytes + 1));
    await expect(read()).rejects.toThrow(StreamBroken);
    expect([reader.isOver, told.stops]).toEqual([true, 1]);
  });
});
