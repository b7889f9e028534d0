import { describe, expect, it } from 'vitest';
import { WebhookAnswer } from '../../../../../src/phone/voice/webhook/webhook-answer.ts';
import type { LlmPiece } from '../../../../../src/voice/session/voice-pipeline.ts';

const END: LlmPiece = { kind: 'call', name: 'end_call', argumentsJson: '{}' };

/** The pieces of an answer of these lines, the words of each trimmed. */
function answer(...lines: readonly (object | string)[]) {
  const reading = new WebhookAnswer();
  const taken = lines.map((line) =>
    reading.take(typeof line === 'string' ? line : JSON.stringify(line)),
  );
  return { reading, taken, pieces: [...taken.flat(), ...reading.end()] };
}

const spoken = (pieces: readonly LlmPiece[]) =>
  pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');

describe('the answer of a voice webhook', () => {
  it('the answer of a voice webhook is spoken line by line, each as it comes', () => {
    const { pieces, taken } = answer({ text: 'One moment.' }, { text: 'It is ready.' });
    expect(taken.map(spoken)).toEqual(['One moment. ', 'It is ready. ']);
    expect(pieces).toHaveLength(2);
  });

  it('the answer of a voice webhook speaks an interim line only when no final line comes, and then the last of them', () => {
    const interim = [
      { text: 'Looking', interim: true },
      { text: 'Still looking', interim: true },
    ];
    expect(spoken(answer(...interim).pieces)).toBe('Still looking');
    expect(spoken(answer(...interim, { text: 'Found it' }).pieces)).toBe('Found it');
    expect(answer(...interim, { end: true }).pieces).toEqual([END]);
  });

  it('the answer of a voice webhook hangs up after the words of a final line with end, and reads no further', () => {
    const { pieces, reading } = answer(
      { text: 'Goodbye', end: true },
      { text: 'and another thing' },
    );
    expect(pieces).toEqual([{ kind: 'text', text: 'Goodbye' }, END]);
    expect(reading.isOver).toBe(true);
  });

  it('the answer of a voice webhook hangs up without a word when it has only an end', () => {
    const { pieces, reading } = answer({ end: true });
    expect([pieces, reading.isEmpty]).toEqual([[END], false]);
  });

  it('the answer of a voice webhook may have an action, with words or without, and an invalid action is skipped', () => {
    const action = { name: 'gather_digits', maxDigits: 4, sensitive: true };
    const piece = {
      kind: 'call',
      name: 'gather_digits',
      argumentsJson: '{"maxDigits":4,"sensitive":true}',
    };
    const said = answer({ text: 'Your code, please.', action });
    expect(spoken(said.pieces)).toBe('Your code, please. ');
    expect(said.pieces.at(-1)).toEqual(piece);
    expect(answer({ action }).reading.isEmpty).toBe(false);
    for (const wrong of [{ ...action, maxDigits: 0 }, { name: 'fly' }, 'end_call', null]) {
      expect(answer({ action: wrong }).pieces).toEqual([]);
      expect(answer({ action: wrong }).reading.isEmpty).toBe(true);
    }
  });

  it('the answer of a voice webhook does not end the call for an interim line', () => {
    expect(answer({ text: 'Bye', interim: true, end: true }).pieces).toEqual([
      { kind: 'text', text: 'Bye' },
    ]);
  });

  it('the answer of a voice webhook skips blank and unreadable lines', () => {
    const { pieces } = answer(
      '',
      '  ',
      '{',
      '[1]',
      '7',
      'null',
      { text: 5 },
      { words: 'x' },
      {
        text: 'Hello',
      },
    );
    expect(spoken(pieces)).toBe('Hello');
  });

  it('the answer of a voice webhook may have lines that end in CRLF', () => {
    expect(spoken(answer('{"text":"Hello"}\r').pieces)).toBe('Hello');
  });

  it.each([
    [[]],
    [[{ text: '' }]],
    [[{ text: '  ' }]],
    [[{}]],
    [['not json']],
    [[{ text: ' ', interim: true }]],
  ])('the answer of a voice webhook is empty when it has neither words nor an end: %j', (lines) => {
    const { pieces, reading } = answer(...(lines as (object | string)[]));
    expect([pieces, reading.isEmpty]).toEqual([[], true]);
  });

  it('the answer of a voice webhook joins tokens without adding spaces', () => {
    const tokens = ['It', ' costs', ' 3', '.', '14', ' dollars', '.'].map((text) => ({ text }));
    expect(spoken(answer(...tokens).pieces)).toBe('It costs 3.14 dollars.');
  });

  it('the answer of a voice webhook keeps sentences apart that come without a space between them', () => {
    expect(spoken(answer({ text: 'Sure.' }, { text: 'Here it is' }).pieces)).toBe(
      'Sure. Here it is',
    );
  });

  it('the answer of a voice webhook speaks 1,500 characters at most and still hangs up after them', () => {
    const { pieces } = answer(
      { text: 'a'.repeat(1_499) },
      { text: 'bcd' },
      { text: 'never heard', end: true },
    );
    expect(spoken(pieces)).toBe(`${'a'.repeat(1_499)}b`);
    expect(pieces.at(-1)).toEqual(END);
  });

  it('the answer of a voice webhook is never cut within a character', () => {
    const { pieces } = answer({ text: `${'a'.repeat(1_499)}😀` });
    expect(spoken(pieces)).toBe('a'.repeat(1_499));
  });
});
