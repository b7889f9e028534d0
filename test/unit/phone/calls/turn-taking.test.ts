import { describe, expect, it } from 'vitest';
import { turnDetectionOf } from '../../../../src/phone/voice/tuning/turn-settings.ts';
import { TURN_MODES } from '../../../../src/voice/session/turns/end-of-turn.ts';
import { phoneCall } from '../../../support/phone-line.ts';

const { minSilenceMs, onNumberMs } = TURN_MODES.balanced;

/** A call whose turns end as calls' turns do, and are answered with a few words. */
async function openCall(options: Parameters<typeof phoneCall>[0] = {}) {
  const phone = await phoneCall(options);
  await phone.call.actions.configure({ turnDetection: turnDetectionOf({}) });
  /** The caller says `text` for 400 ms, and is silent. */
  async function saysThenSilent(text: string, silentMs: number): Promise<void> {
    phone.engines.stt.pocketsphinx.script.push(text);
    phone.callee.speak(400);
    await phone.passes(400 + silentMs);
  }
  return { ...phone, saysThenSilent };
}

describe('the turn of a caller who pauses', () => {
  it('the turn of a caller who pauses ends soon after a complete sentence', async () => {
    const { answers, prompt, saysThenSilent } = await openCall();
    answers('It is five dollars.');
    await saysThenSilent('what is my balance', minSilenceMs + 300);
    expect(prompt()).toEqual(['what is my balance']);
  });

  it('the turn of a caller who pauses continues over the groups of a number, which is answered once as one text', async () => {
    const { answers, callee, engines, passes, prompt, saysThenSilent } = await openCall();
    answers('Thanks.');
    await saysThenSilent('my phone number is four one five', 900);
    await saysThenSilent('five five five', 900);
    expect([engines.guide.asked.length, callee.heardMs()]).toEqual([0, 0]);
    await saysThenSilent('oh one two three', minSilenceMs + 300);
    expect(prompt()).toEqual(['my phone number is four one five five five five oh one two three']);
    await passes(5_000);
    expect(engines.guide.asked).toHaveLength(1);
  });

  it('the turn of a caller ends after the wait that follows digits, and a noise within that wait loses no words', async () => {
    const { answers, engines, prompt, saysThenSilent } = await openCall();
    answers('Thanks.');
    await saysThenSilent('four one five', onNumberMs - 100);
    expect(engines.guide.asked).toHaveLength(0);
    await saysThenSilent('', minSilenceMs + 300);
    expect(prompt()).toEqual(['four one five']);
  });
});

const GREETING = 'Thanks for calling us today. Would you like to book a table now?';
/** The fake voice speaks 100 ms a word. */
const GREETING_MS = 1_300;

describe('a short answer around the end of a question', () => {
  it.each([-900, -700, -500, -350, -200, -100, 0, 130, 250, 400, 700, 1_000])(
    'a short answer that begins %i ms from the end of a question is answered',
    async (offsetMs) => {
      const call = await openCall({ beginMessage: GREETING });
      const { answers, callee, engines, passes, prompt } = call;
      answers('A table for tonight it is.');
      await passes(GREETING_MS + offsetMs);
      engines.stt.pocketsphinx.script.push('yes');
      // Too short to pause what is said.
      callee.speak(180);
      await passes(2_500);
      expect(prompt().at(-1)).toBe('yes');
      expect(engines.tts.flite.spoken.at(-1)).toBe('A table for tonight it is.');
    },
  );

  it('a short "yes" in the middle of a longer answer is a backchannel, and the answer goes on', async () => {
    const begin = 'One two three four five six seven eight nine ten. And so on until the end.';
    const { callee, engines, interruptions, passes } = await openCall({ beginMessage: begin });
    await passes(300);
    engines.stt.pocketsphinx.script.push('yes');
    callee.speak(400);
    await passes(4_000);
    expect([interruptions, engines.guide.asked.length]).toEqual([[], 0]);
    expect(Math.abs(callee.heardMs() - 1_600)).toBeLessThanOrEqual(40);
  });
});
