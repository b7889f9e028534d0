import { describe, expect, it } from 'vitest';
import { openLiveCall } from '../../../../src/phone/calls/recorded/open-live-call.ts';
import { PHONE_LIMITS } from '../../../../src/phone/limits.ts';
import { phoneCall } from '../../../support/phone-line.ts';
import { memoryTapes } from '../../../support/tapes.ts';
import { AGENT } from '../../../support/voice-world.ts';

const COUNT = 'One two three four. Five six seven eight.';

/** The answer with which the agent ends a call. */
const goodbye = (text: string) => ({
  text,
  toolCall: { name: 'end_call', argumentsJson: '{}' },
  usage: { inputTokens: 1, outputTokens: 3 },
});

describe('a live call', () => {
  it('a live call greets, transcribes, and answers', async () => {
    const { answers, callee, passes, prompt, says, turns } = await phoneCall({
      beginMessage: 'Hello there.',
    });
    await passes(600);
    expect(callee.heardMs()).toBe(200);
    answers('Fine thanks.');
    await says('how are you');
    await passes(600);
    expect(callee.heardMs()).toBe(400);
    expect(prompt()).toEqual(['Hello there.', 'how are you']);
    expect(turns).toEqual([
      'assistant: Hello there.',
      'user: how are you',
      'assistant: Fine thanks.',
    ]);
  });

  it('a live call continues its answer through a cough, without a gap', async () => {
    const { answers, callee, clears, engines, passes, says } = await phoneCall();
    answers(COUNT);
    await says('count');
    engines.stt.pocketsphinx.script.push('the');
    callee.speak(160);
    await passes(1_500);
    expect(clears).toEqual([]);
    expect(callee.heardMs()).toBe(800);
  });

  it('a live call continues its answer after a backchannel from the caller, and does not answer the backchannel', async () => {
    const { answers, callee, clears, engines, passes, prompt, says } = await phoneCall();
    answers(`${COUNT} ${COUNT}`);
    await says('count');
    engines.stt.pocketsphinx.script.push('mhm');
    callee.speak(420);
    await passes(4_000);
    expect(clears).toHaveLength(1);
    expect(callee.heardMs()).toBeGreaterThanOrEqual(1_600);
    expect(callee.heardMs()).toBeLessThanOrEqual(1_640);
    expect(engines.guide.asked).toHaveLength(1);
    expect(prompt()).toEqual(['count']);
  });

  it('a live call hangs up once the goodbye was heard whole', async () => {
    const { callee, engines, over, passes, says } = await phoneCall();
    engines.guide.answers.push(goodbye('Goodbye my friend.'));
    await says('bye');
    expect(over).toEqual([]);
    await passes(900);
    expect(callee.heardMs()).toBe(300);
    expect(over).toEqual(['agent_ended']);
  });

  it('a live call does not hang up when the caller speaks over the goodbye', async () => {
    const { callee, engines, over, passes, says } = await phoneCall();
    engines.guide.answers.push(goodbye('Goodbye my dear old friend from the far far away.'));
    await says('bye');
    engines.stt.pocketsphinx.script.push('wait a moment');
    callee.speak(600);
    await passes(2_500);
    expect(over).toEqual([]);
    expect(engines.guide.asked).toHaveLength(2);
  });

  it.each([
    ['okay', 600],
    ['mhm', 420],
    ['', 600],
    ['the', 160],
  ])(
    'a live call hangs up after the goodbye when a caller says no more than "%s" over it',
    async (words, ms) => {
      const { callee, engines, over, passes, says } = await phoneCall();
      engines.guide.answers.push(goodbye('Goodbye my dear old friend from the far far away.'));
      await says('bye');
      engines.stt.pocketsphinx.script.push(words);
      callee.speak(ms);
      await passes(ms + 400);
      expect(over).toEqual([]);
      await passes(1_600);
      expect(callee.heardMs()).toBeGreaterThanOrEqual(1_000);
      expect(over).toEqual(['agent_ended']);
      expect(engines.guide.asked).toHaveLength(1);
    },
  );

  it('a live call does not hang up on a caller who begins to speak with the last word of the goodbye', async () => {
    const { callee, engines, over, passes, says } = await phoneCall();
    engines.guide.answers.push(goodbye('Goodbye my friend.'));
    await says('bye');
    engines.stt.pocketsphinx.script.push('wait a moment');
    while (callee.heardMs() < 160) await passes(20);
    callee.speak(600);
    await passes(2_500);
    expect(over).toEqual([]);
    expect(engines.guide.asked).toHaveLength(2);
  });

  it('a live call does not hang up when a key is pressed over the goodbye', async () => {
    const { call, engines, over, passes, says } = await phoneCall();
    engines.guide.answers.push(goodbye('Goodbye my dear old friend from the far far away.'));
    await says('bye');
    call.media({ kind: 'digit', digit: '1' });
    await passes(2_500);
    expect(over).toEqual([]);
    expect(engines.guide.asked).toHaveLength(2);
  });

  it('a live call whose stream does not come back ends as left by the callee', async () => {
    const { answers, call, ledger, over, passes, says } = await phoneCall();
    answers(COUNT);
    await says('count');
    call.detached();
    await passes(15_100);
    await call.settled;
    expect(over).toEqual(['client left']);
    expect(ledger.openHolds()).toBe(0);
    expect(ledger.consumedRaw(AGENT)).toBeGreaterThan(0n);
  });

  it.each([
    ['', undefined],
    [', recorded', openLiveCall],
  ])(
    'a live call goes on, and is billed, when another stream replaces a half-open one%s',
    async (_, open) => {
      const detached: string[] = [];
      const { answers, call, callee, connection, over, passes, says } = await phoneCall({
        events: { detached: () => detached.push('detached') },
        ...(open && { deps: { tapes: memoryTapes() }, open }),
      });
      connection.close = () => call.detached(connection);
      call.attach({ ...connection, close() {} });
      await passes(PHONE_LIMITS.call.lineLostMs + 1_000);
      expect([over, detached]).toEqual([[], []]);
      answers(COUNT);
      await says('count');
      await passes(1_000);
      expect(callee.heardMs()).toBe(800);
    },
  );

  it('a live call gives pressed keys to its responder as one entry', async () => {
    const { call, engines, passes, prompt } = await phoneCall();
    for (const digit of '12#') call.media({ kind: 'digit', digit });
    await passes(200);
    expect(prompt()).toEqual(['[keypad] 12#']);
    expect(engines.guide.asked).toHaveLength(1);
  });
});
