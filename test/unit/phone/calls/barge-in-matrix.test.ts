import { describe, expect, it } from 'vitest';
import { phoneCall } from '../../../support/phone-line.ts';
import { AGENT } from '../../../support/voice-world.ts';

const LONG = 'One two three four. Five six seven eight. Nine ten eleven twelve.';
/** What every interruption is answered with: 100 ms. */
const ANSWER = 'Yes.';
const ANSWER_MS = 100;
/** Of the carrier's playback after a clear: the frame that it plays, and the one that is due. */
const SILENT_AFTER_MS = 40;

type Phone = Awaited<ReturnType<typeof phoneCall>>;

/** The caller interrupts, and is answered. */
async function interrupts(phone: Phone, words = 'wait a moment please') {
  const { answers, callee, clears, clock, engines, passes } = phone;
  engines.stt.pocketsphinx.script.push(words);
  answers(ANSWER);
  const beganMs = clock.monotonicMs();
  callee.speak(600);
  await passes(1_800);
  // Where nothing was left to clear, the decision comes within 400 ms.
  const clearedMs = clears.find((at) => at > beganMs) ?? beganMs + 400;
  return {
    /** From the first sound of the caller to the clear. */
    decidedMs: clearedMs - beganMs,
    /** Sound of the interrupted answer that was heard later than 40 ms after the clear. */
    leakedMs: callee.heardMs(clearedMs + SILENT_AFTER_MS) - ANSWER_MS,
    heardUntilClear: callee.heardMs(0, clearedMs),
  };
}

/** What the history has of an answer of 100 ms a word, against what was heard of it. */
function expectHeard(history: string, heardMs: number): void {
  const words = history.split(/\s+/).filter((word) => word !== '').length;
  expect(words).toBeGreaterThanOrEqual(Math.floor(heardMs / 100) - 1);
  expect(words).toBeLessThanOrEqual(Math.ceil(heardMs / 100));
  expect(LONG.startsWith(history)).toBe(true);
}

describe('a caller who interrupts', () => {
  it('while the answer is being made hears none of it, and gets one answer to both utterances', async () => {
    const phone = await phoneCall();
    const { callee, engines, prompt, says } = phone;
    engines.guide.thinking = () => {
      engines.guide.thinking = undefined;
      return new Promise(() => {});
    };
    await says('count');
    const { leakedMs } = await interrupts(phone);
    expect(leakedMs).toBe(0);
    expect(callee.heardMs()).toBe(ANSWER_MS);
    expect(prompt()).toEqual(['count', 'wait a moment please']);
  });

  it('while it plays hears silence within 40 ms of the clear, and the history ends with the words that were heard', async () => {
    const phone = await phoneCall();
    const { answers, prompt, says } = phone;
    answers(LONG);
    await says('count');
    const { decidedMs, leakedMs, heardUntilClear } = await interrupts(phone);
    expect(leakedMs).toBe(0);
    expect(decidedMs).toBeLessThanOrEqual(400);
    const [count, history = '', wait] = prompt();
    expect([count, wait]).toEqual(['count', 'wait a moment please']);
    expectHeard(history, heardUntilClear);
  });

  it('between two sentences hears nothing of the second, which is not bought', async () => {
    const phone = await phoneCall();
    const { answers, engines, passes, prompt, says } = phone;
    let go = () => {};
    engines.tts.flite.between = () => {
      engines.tts.flite.between = undefined;
      return new Promise((resolve) => {
        go = resolve;
      });
    };
    answers(LONG);
    await says('count');
    const { leakedMs, heardUntilClear } = await interrupts(phone);
    go();
    await passes(500);
    expect(leakedMs).toBe(0);
    expect(heardUntilClear).toBe(400);
    expectHeard(prompt()[1] ?? '', heardUntilClear);
    expect(engines.tts.flite.spoken).toEqual(['One two three four.', ANSWER]);
  });

  it.each([
    ['is still being made', 'Nine ten eleven twelve. Thirteen fourteen fifteen.'],
    ['was sent whole', 'Nine.'],
  ])('between an answer and the next, which %s, has heard a part of the first', async (_, next) => {
    const phone = await phoneCall();
    const { answers, call, callee, cuts, interruptions, passes, prompt, says } = phone;
    answers('One two three four. Five six seven eight.');
    await says('count');
    call.say(next);
    await passes(100);
    const heardMs = callee.heardMs();
    expect(heardMs).toBeLessThan(400);
    await interrupts(phone);
    const [, history = '', wait] = prompt();
    expectHeard(history, heardMs + 400);
    expect(wait).toBe('wait a moment please');
    expect(cuts).toEqual([history, '']);
    expect(interruptions).toEqual([history]);
  });

  it('hears no sound that is made after the clear', async () => {
    const phone = await phoneCall();
    const { answers, callee, engines, passes, says } = phone;
    let go = () => {};
    answers('One two three four five six seven eight. Nine ten eleven twelve.');
    engines.tts.flite.between = () => {
      engines.tts.flite.between = undefined;
      return new Promise((resolve) => {
        go = resolve;
      });
    };
    await says('count');
    const { leakedMs, heardUntilClear } = await interrupts(phone);
    go();
    await passes(1_000);
    expect(leakedMs).toBe(0);
    expect(callee.heardMs()).toBeLessThanOrEqual(heardUntilClear + SILENT_AFTER_MS + ANSWER_MS);
  });

  it('within the greeting is answered, and the greeting is cut to what was heard', async () => {
    const phone = await phoneCall({ beginMessage: LONG });
    const { passes, prompt } = phone;
    await passes(300);
    const { leakedMs, heardUntilClear } = await interrupts(phone);
    expect(leakedMs).toBe(0);
    const [history = '', wait] = prompt();
    expect(wait).toBe('wait a moment please');
    expectHeard(history, heardUntilClear);
  });

  it('twice in a second is answered once, and hears nothing of what was interrupted', async () => {
    const phone = await phoneCall();
    const { answers, callee, clears, clock, engines, passes, prompt, says } = phone;
    answers(LONG);
    await says('count');
    answers(LONG);
    answers(ANSWER);
    engines.stt.pocketsphinx.script.push('stop it now', 'no really stop');
    callee.speak(400);
    // The answer to the first begins 500 ms after it, and the caller speaks over its first words.
    await passes(1_000);
    callee.speak(600);
    await passes(1_800);
    expect(clears).toHaveLength(2);
    const [, second = 0] = clears;
    expect(callee.heardMs(second + SILENT_AFTER_MS)).toBe(ANSWER_MS);
    expect(clock.monotonicMs()).toBeGreaterThan(second);
    expect(prompt().filter((_, n) => n % 2 === 0)).toEqual([
      'count',
      'stop it now',
      'no really stop',
    ]);
  });

  it.each([
    ['a sign of listening', 'mhm', 420],
    ['a noise', 'the', 160],
  ])('right after %s, before the words of that are known, is answered', async (_, first, ms) => {
    const phone = await phoneCall();
    const { answers, callee, clears, engines, passes, prompt, says } = phone;
    answers(`${LONG} ${LONG}`);
    await says('count');
    const released: (() => void)[] = [];
    engines.stt.pocketsphinx.decoding = () => new Promise((resolve) => released.push(resolve));
    engines.stt.pocketsphinx.script.push(first, 'stop it now');
    answers(ANSWER);
    callee.speak(ms);
    await passes(ms + 600);
    callee.speak(600);
    await passes(1_300);
    const before = clears.length;
    engines.stt.pocketsphinx.decoding = undefined;
    for (const release of released) release();
    await passes(1_000);
    expect(before).toBeGreaterThan(0);
    expect(engines.guide.asked).toHaveLength(2);
    expect(prompt().at(-1)).toBe('stop it now');
    expect(engines.tts.flite.spoken.at(-1)).toBe(ANSWER);
    expect(callee.heardMs()).toBeLessThan(2 * 1_200);
  });

  it('twice, before the words of the first are known, gets one answer to both', async () => {
    const phone = await phoneCall();
    const { answers, callee, engines, passes, prompt, says } = phone;
    answers(`${LONG} ${LONG}`);
    await says('count');
    const released: (() => void)[] = [];
    engines.stt.pocketsphinx.decoding = () => new Promise((resolve) => released.push(resolve));
    engines.stt.pocketsphinx.script.push('stop it now', 'and tell me why');
    answers(ANSWER);
    callee.speak(500);
    await passes(1_100);
    callee.speak(600);
    await passes(1_300);
    engines.stt.pocketsphinx.decoding = undefined;
    for (const release of released) release();
    await passes(1_000);
    expect(prompt().slice(-2)).toEqual(['stop it now', 'and tell me why']);
    expect(engines.tts.flite.spoken.slice(-1)).toEqual([ANSWER]);
  });

  it('pays for the sentences that were bought, and for none after them', async () => {
    const phone = await phoneCall();
    const { answers, call, engines, ledger, passes, says } = phone;
    engines.tts.flite.between = () => {
      engines.tts.flite.between = undefined;
      return new Promise(() => {});
    };
    answers(LONG);
    await says('count');
    await interrupts(phone);
    call.end('agent_ended');
    await passes(1_000);
    await call.settled;
    expect(ledger.openHolds()).toBe(0);
    const [charge] = ledger.charges;
    expect(charge?.costRaw).toBe(ledger.consumedRaw(AGENT));
    expect(charge?.usage.character).toBe('One two three four.'.length + ANSWER.length);
  });
});
