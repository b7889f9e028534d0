import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../../src/kernel/limits.ts';
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
  it('are read as its pieces complete them, until it ends', async () => {
    const { read, told } = reading('data: 1\n\ndata', ': 2', '\n\n');
    expect([await read(), await read(), await read()]).toEqual([
      ['data: 1\n\n'],
      [],
      ['data: 2\n\n'],
    ]);
    expect([await read(), told.stops]).toEqual([undefined, 0]);
  });

  it('break where it breaks', async () => {
    const { read } = reading('data: 1\n\n', new Error('gone'));
    await read();
    await expect(read()).rejects.toThrow(new StreamBroken('it broke off'));
  });

  it('that are too large end it', async () => {
    const { read, reader, told } = reading('x'.repeat(LIMITS.sseEventBytes + 1));
    await expect(read()).rejects.toThrow(StreamBroken);
    expect([reader.isOver, told.stops]).toEqual([true, 1]);
  });
});
