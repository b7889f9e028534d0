import { describe, expect, it } from 'vitest';
import {
  AnswerReader,
  StreamBroken,
} from '../../../../../src/models/providers/openai/answer-reader.ts';
import { openedAnswer } from '../../../../support/opened-answer.ts';

describe('an answer that is read as it comes', () => {
  it('the response reader returns the pieces unchanged and is over at the end', async () => {
    const reader = new AnswerReader(openedAnswer('one', '', 'two').answer);
    const pieces = [await reader.read(), await reader.read(), await reader.read()];
    expect(pieces.map(String)).toEqual(['one', '', 'two']);
    expect(reader.isOver).toBe(false);
    expect([await reader.read(), reader.isOver]).toEqual([undefined, true]);
  });

  it('the response reader throws StreamBroken with the cause when the response breaks', async () => {
    const cause = new Error('gone');
    const reader = new AnswerReader(openedAnswer(cause).answer);
    const error = await reader.read().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StreamBroken);
    expect(error).toMatchObject({ cause });
    expect(reader.isOver).toBe(true);
  });

  it('the response reader tells its upstream about a stop, and not about a finish', () => {
    const { answer, told } = openedAnswer('one');
    const reader = new AnswerReader(answer);
    reader.finish();
    expect([reader.isOver, told.stops]).toEqual([true, 0]);
    reader.stop();
    expect([reader.isOver, told.stops]).toEqual([true, 1]);
  });
});
