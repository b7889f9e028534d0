import { describe, expect, it } from 'vitest';
import {
  ANSWER,
  ANSWER_MS,
  BARGE_INS,
  type BargeIn,
  interrupt,
  LONG,
  SILENT_AFTER_MS,
} from '../../../support/barge-ins.ts';
import { phoneCall } from '../../../support/phone-line.ts';
import { AGENT } from '../../../support/voice-world.ts';

/** How soon loud speech is an interruption. */
const CLEAR_MS = 400;

/** What the history has of an answer of 100 ms a word, against what was heard of it. */
function expectHeard(history: string, heardMs: number): void {
  const words = history.split(/\s+/).filter((word) => word !== '').length;
  expect(words).toBeGreaterThanOrEqual(Math.floor(heardMs / 100) - 1);
  expect(words).toBeLessThanOrEqual(Math.ceil(heardMs / 100));
  expect(LONG.startsWith(history)).toBe(true);
}

/** The answer ends with the clear, which comes in time where there is something to clear. */
function expectSilent({ clearMs = 0, leakedMs, silentMs }: BargeIn): void {
  expect(clearMs).toBeLessThanOrEqual(CLEAR_MS);
  expect(silentMs).toBeLessThanOrEqual(SILENT_AFTER_MS);
  expect(leakedMs).toBe(0);
}

describe('a caller who interrupts', () => {
  it('a caller who interrupts before the first sound of an answer hears none of it, and gets one answer to both utterances', async () => {
    const phone = await phoneCall();
    const { callee, prompt } = phone;
    expectSilent(await BARGE_INS.whileMade.run(phone));
    expect(callee.heardMs()).toBe(ANSWER_MS);
    expect(prompt()).toEqual(['count', 'wait a moment please']);
  });

  it('a caller who interrupts an answer hears silence within 40 ms of the clear, and the history ends with the heard words', async () => {
    const phone = await phoneCall();
    const bargeIn = await BARGE_INS.whilePlayed.run(phone);
    expectSilent(bargeIn);
    expect(bargeIn.clearMs).toBeDefined();
    const [count, history = '', wait] = phone.prompt();
    expect([count, wait]).toEqual(['count', 'wait a moment please']);
    expectHeard(history, bargeIn.heardUntilClearMs);
  });

  it('a caller who interrupts between two sentences hears nothing of the second, which is not synthesized', async () => {
    const phone = await phoneCall();
    const bargeIn = await BARGE_INS.betweenSentences.run(phone);
    expectSilent(bargeIn);
    expect(bargeIn.heardUntilClearMs).toBe(400);
    expectHeard(phone.prompt()[1] ?? '', bargeIn.heardUntilClearMs);
    expect(phone.engines.tts.flite.spoken).toEqual(['One two three four.', ANSWER]);
  });

  it.each([
    ['is still being made', BARGE_INS.beforeNextIsMade],
    ['was sent whole', BARGE_INS.beforeNextIsPlayed],
  ])(
    'a caller who interrupts between an answer and the next, which %s, has heard a part of the first',
    async (_, { run }) => {
      const phone = await phoneCall();
      const { cuts, interruptions, prompt } = phone;
      const bargeIn = await run(phone);
      expectSilent(bargeIn);
      expect(bargeIn.heardMs).toBeLessThan(400);
      const [, history = '', wait] = prompt();
      expectHeard(history, bargeIn.heardUntilClearMs);
      expect(wait).toBe('wait a moment please');
      expect(cuts).toEqual([history, '']);
      expect(interruptions).toEqual([history]);
    },
  );

  it('a caller who interrupts hears no sound that is made after the clear', async () => {
    const phone = await phoneCall();
    const bargeIn = await BARGE_INS.beforeLateSound.run(phone);
    expectSilent(bargeIn);
    expect(phone.callee.heardMs()).toBeLessThanOrEqual(
      bargeIn.heardUntilClearMs + SILENT_AFTER_MS + ANSWER_MS,
    );
  });

  it('a caller who interrupts the greeting is answered, and the history has the greeting as far as it was heard', async () => {
    const { beginMessage, run } = BARGE_INS.withinGreeting;
    const phone = await phoneCall({ beginMessage });
    const bargeIn = await run(phone);
    expectSilent(bargeIn);
    const [history = '', wait] = phone.prompt();
    expect(wait).toBe('wait a moment please');
    expectHeard(history, bargeIn.heardUntilClearMs);
  });

  it('a caller who interrupts twice in a second gets one answer per utterance, and hears no more of the interrupted ones', async () => {
    const phone = await phoneCall();
    const { clears, prompt } = phone;
    expectSilent(await BARGE_INS.twiceInASecond.run(phone));
    expect(clears).toHaveLength(2);
    expect(prompt().filter((_, n) => n % 2 === 0)).toEqual([
      'count',
      'stop it now',
      'no really stop',
    ]);
  });

  it.each([
    ['a sign of listening', BARGE_INS.afterASign],
    ['a noise', BARGE_INS.afterANoise],
  ])(
    'a caller who interrupts right after %s, before the words of that are known, is answered',
    async (_, { run }) => {
      const phone = await phoneCall();
      const { callee, engines, prompt } = phone;
      const bargeIn = await run(phone);
      expectSilent(bargeIn);
      expect(bargeIn.clearMs).toBeDefined();
      expect(engines.guide.asked).toHaveLength(2);
      expect(prompt().at(-1)).toBe('stop it now');
      expect(engines.tts.flite.spoken.at(-1)).toBe(ANSWER);
      expect(callee.heardMs()).toBeLessThan(2 * 1_200);
    },
  );

  it('a caller who interrupts twice, before the words of the first are known, gets one answer to both', async () => {
    const phone = await phoneCall();
    const { engines, prompt } = phone;
    expectSilent(await BARGE_INS.twiceUnknown.run(phone));
    expect(prompt().slice(-2)).toEqual(['stop it now', 'and tell me why']);
    expect(engines.tts.flite.spoken.slice(-1)).toEqual([ANSWER]);
  });

  it('a caller who interrupts pays for the sentences that were synthesized, and for none after them', async () => {
    const phone = await phoneCall();
    const { answers, call, engines, ledger, passes, says } = phone;
    engines.tts.flite.between = () => {
      engines.tts.flite.between = undefined;
      return new Promise(() => {});
    };
    answers(LONG);
    await says('count');
    await interrupt(phone);
    call.end('agent_ended');
    await passes(1_000);
    await call.settled;
    expect(ledger.openHolds()).toBe(0);
    const [charge] = ledger.charges;
    expect(charge?.costRaw).toBe(ledger.consumedRaw(AGENT));
    expect(charge?.usage.character).toBe('One two three four.'.length + ANSWER.length);
  });
});
