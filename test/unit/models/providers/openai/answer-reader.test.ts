import { describe, expect, it } from 'vitest';
import {
  AnswerReader,
  StreamBroken,
} from '../../../../../src/models/providers/openai/answer-reader.ts';
import { openedAnswer } from '../../../../support/opened-answer.ts';

describe('an answer that is read as it comes', () => {
  it('gives its pieces as they are, and is over when it has ended', async () => {
    const reader = new AnswerReader(openedAnswer('one', '', 'two').answer);
    const pieces = [await reader.read(), await reader.read(), await reader.read()];
    expect(pieces.map(String)).toEqual(['one', '', 'two']);
    expect(reader.isOver).toBe(false);
    expect([await reader.read(), reader.isOver]).toEqual([undefined, true]);
  });

  it('is over where it breaks, and says why', async () => {
    const cause = new Error('gone');
    const reader = new AnswerReader(openedAnswer(cause).answer);
    const error = await reader.read().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StreamBroken);
    expect(error).toMatchObject({ cause });
    expect(reader.isOver).toBe(true);
  });

  it('is over when it has finished, and only a stop is told to its upstream', () => {
    const { answer, told } = openedAnswer('one');
    const reader = new AnswerReader(answer);
    reader.finish();
    expect([reader.isOver, told.stops]).toEqual([true, 0]);
    reader.stop();
    expect([reader.isOver, told.stops]).toEqual([true, 1]);
  });
});
