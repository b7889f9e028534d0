import { describe, expect, it } from 'vitest';
import { phoneCall } from '../../../support/phone-line.ts';
import { createFakeEngines, tone } from '../../../support/voice-fakes.ts';

const FIRST = 'One two three four.';
const LONG = 'five six seven eight nine ten eleven twelve thirteen fourteen fifteen.';

/** A call whose voice breaks off after 100 ms of a sentence that a test names. */
async function speaking(isBroken: (text: string) => boolean) {
  const engines = createFakeEngines();
  const speak = engines.tts.flite.speak.bind(engines.tts.flite);
  engines.tts.flite.speak = async function* (request) {
    for await (const chunk of speak(request)) {
      if (!isBroken(chunk.text)) yield chunk;
      else {
        yield { ...chunk, pcm: tone(100, 16_000) };
        throw new Error('the engine is gone');
      }
    }
  };
  return phoneCall({ engines });
}

describe('a call whose voice breaks off in the middle of an answer', () => {
  it('a call whose synthesizer breaks off apologizes, goes on, and keeps the heard part of the answer', async () => {
    const w = await speaking((text) => text === LONG);
    w.answers(`${FIRST} ${LONG}`);
    await w.says('count', 400);
    await w.passes(3_000);
    const [user, broken, sorry] = w.turns;
    expect(user).toBe('user: count');
    expect(broken).toMatch(/^assistant: One two three four\./);
    expect(broken).not.toContain('fifteen');
    expect(sorry).toBe('assistant: Sorry, I was cut off. Could you say that again?');
    w.answers('Again.');
    await w.says('again', 400);
    await w.passes(1_500);
    expect(w.turns.at(-1)).toBe('assistant: Again.');
    expect(w.prompt().join()).not.toContain('fifteen');
    expect(w.over).toEqual([]);
  });

  it('a call whose synthesizer breaks off ends with synthesizer_lost when the apology is not heard either', async () => {
    const w = await speaking(() => true);
    w.answers(`${FIRST} ${LONG}`);
    await w.says('count', 400);
    await w.passes(4_000);
    expect(w.over).toEqual(['synthesizer_lost']);
  });
});
