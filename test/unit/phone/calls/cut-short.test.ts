import { describe, expect, it } from 'vitest';
import type { LiveCall } from '../../../../src/phone/calls/live-call.ts';
import { phoneCall } from '../../../support/phone-line.ts';

const SENT_WHOLE = 'One two three four. Five six seven eight.';
const STILL_MADE = `${SENT_WHOLE} Nine ten eleven twelve. Thirteen fourteen fifteen sixteen.`;

/** What stops the agent in the middle of a word, though the caller does not speak. */
const CUTS: readonly (readonly [string, (call: LiveCall) => void])[] = [
  ['its process stops', (call) => call.drain()],
  ['a machine has answered', (call) => call.actions.mute()],
  ['a machine has answered and is hung up on', (call) => call.actions.drop('voicemail_reached')],
  ['the far side hangs up', (call) => call.hungUp()],
  ['its stream breaks and does not come back', (call) => call.detached()],
  ['it is as long as it may be', (call) => call.end('max_duration')],
  ['its agent is suspended', (call) => call.end('agent_suspended')],
];

describe('an answer that is cut short', () => {
  for (const answer of [SENT_WHOLE, STILL_MADE]) {
    it.each(CUTS)(
      'an answer that is cut short is recorded as far as it was heard when %s',
      async (_, cut) => {
        const { answers, call, callee, cuts, interruptions, passes, says, turns } =
          await phoneCall();
        answers(answer);
        await says('count');
        await passes(300);
        const heardMs = callee.heardMs();
        cut(call);
        await passes(20_000);
        expect(turns[1]).toMatch(`assistant: ${SENT_WHOLE}`);
        expect(cuts).toHaveLength(1);
        const [heard = ''] = cuts;
        const words = heard.split(' ').length;
        expect(words).toBeGreaterThan(1);
        expect(SENT_WHOLE.startsWith(heard)).toBe(true);
        expect(words).toBeGreaterThanOrEqual(Math.floor(heardMs / 100) - 1);
        expect(words).toBeLessThanOrEqual(Math.ceil(heardMs / 100));
        // Nobody has spoken over it.
        expect(interruptions).toEqual([]);
      },
    );
  }

  it.each([
    ['ended', (call: LiveCall) => call.end('agent_ended')],
    ['hung up at the end of it', (call: LiveCall) => call.hungUp()],
  ])(
    'an answer that was heard whole before the call was %s is not recorded as cut',
    async (what, end) => {
      const { answers, call, callee, cuts, over, passes, says } = await phoneCall();
      answers(SENT_WHOLE);
      await says('count');
      if (what !== 'ended') await passes(1_000);
      end(call);
      await passes(2_000);
      expect(callee.heardMs()).toBe(800);
      expect(cuts).toEqual([]);
      expect(over).toHaveLength(1);
    },
  );
});
