import { describe, expect, it } from 'vitest';
import { DEEPGRAM_LIMITS } from '../../../../../src/protocols/deepgram/limits.ts';
import { SpeechTurn } from '../../../../../src/protocols/deepgram/speak/speech-turn.ts';

/** A turn of these sentences, each of which sounds for a second, one behind the other from `startMs` on. */
function turnOf(text: string, sentences: readonly string[], startMs = 0): SpeechTurn {
  const turn = new SpeechTurn('dg_sp_000000000001');
  turn.add(text);
  sentences.forEach((sentence, i) => {
    const { bought, ended, sounded } = turn.begin(sentence, startMs + 1_000 * i);
    bought(sentence.length, 10n);
    sounded(1_000);
    ended();
  });
  return turn;
}

describe('the text of a turn', () => {
  const TEXT = 'Good day.  How are you?\nWell. ';
  const turn = turnOf(TEXT, ['Good day.', 'How are you?', 'Well.'], 500);

  it.each([
    [0, ''],
    [500, ''],
    [1_000, 'Good'],
    [1_499, 'Good day'],
    [1_500, 'Good day.'],
    [1_501, 'Good day.  '],
    [2_000, 'Good day.  How '],
    [2_100, 'Good day.  How are'],
    [3_500, 'Good day.  How are you?\nWell.'],
    [9_999, 'Good day.  How are you?\nWell.'],
  ])(
    'the spoken text of a Deepgram turn ends at a whole word: at %i ms',
    (playedMs, text_spoken) => {
      const split = turn.splitAt(playedMs);
      expect(split).toEqual({ text_spoken, text_remaining: TEXT.slice(text_spoken.length) });
    },
  );

  it('the spoken text of a Deepgram turn never ends in half a character, in scripts without blanks as well', () => {
    const text = '今天天气很好🙂🙂，我们去公园吧。';
    const chinese = turnOf(text, [text]);
    for (let ms = 0; ms <= 1_000; ms += 10) {
      const { text_spoken, text_remaining } = chinese.splitAt(ms);
      expect(text_spoken + text_remaining).toBe(text);
      expect(text_spoken).not.toMatch(/[\uD800-\uDBFF]$/);
    }
    expect(chinese.splitAt(500).text_spoken.length).toBeGreaterThan(2);
  });

  it('the spoken text of a sentence in progress is estimated at fifteen characters a second', () => {
    const turn = new SpeechTurn('x');
    const text = 'word '.repeat(60).trim();
    turn.add(text);
    turn.begin(text, 0).sounded(2_000);
    // Fifteen characters a second.
    expect(turn.splitAt(2_000).text_spoken).toBe('word '.repeat(6).trim());
  });

  it('a Deepgram turn has a size limit, and reports its input characters and its billed characters', () => {
    expect(turn.report()).toEqual({
      speech_id: 'dg_sp_000000000001',
      audio_duration_ms: 3_000,
      input_character_count: TEXT.length,
      billable_character_count: 26,
      controls_applied: { pronunciations_applied: 0, breaks_applied: 0, pronunciation_warnings: 0 },
      cost_usdc: '30',
    });
    const { turnChars: speakTurnChars } = DEEPGRAM_LIMITS.speak;
    expect(turn.hasRoom('x'.repeat(speakTurnChars - TEXT.length))).toBe(true);
    expect(turn.hasRoom('x'.repeat(speakTurnChars - TEXT.length + 1))).toBe(false);
  });
});
