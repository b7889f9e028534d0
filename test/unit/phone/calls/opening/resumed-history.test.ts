import { describe, expect, it } from 'vitest';
import { transferNote } from '../../../../../src/phone/calls/actions/transfer-note.ts';
import {
  isUngreeted,
  mayAnnounce,
  owedBy,
} from '../../../../../src/phone/calls/opening/resumed-history.ts';
import { RECORDING_NOTICE } from '../../../../../src/phone/recordings/recording.ts';

const agent = (content: string) => ({ role: 'assistant', content }) as const;
const caller = (content: string) => ({ role: 'user', content }) as const;

describe('a call that another process had', () => {
  it.each([
    ['nothing was said', [], true],
    ['the notice was said', [agent(RECORDING_NOTICE)], true],
    ['the notice was begun', [agent('This call')], true],
    ['the greeting was said', [agent('Hello.')], false],
    ['the greeting was said after the notice', [agent(RECORDING_NOTICE), agent('Hello.')], false],
    ['the caller spoke', [caller('This call')], false],
  ])(
    'a call resumed from another process is greeted unless it already was: %s',
    (_, history, expected) => {
      expect(isUngreeted(history)).toBe(expected);
    },
  );

  it.each([
    ['nothing was said', [], 'nothing'],
    ['the caller spoke last', [agent('Hello.'), caller('how are you')], 'answer'],
    ['the agent spoke last', [caller('how are you'), agent('Fine.')], 'nothing'],
    ['a transfer failed', [agent('One moment.'), caller(transferNote())], 'news_of_transfer'],
  ] as const)(
    'a call resumed from another process owes the callee a response to the last message: %s',
    (_, history, owed) => {
      expect(owedBy(history, false)).toBe(owed);
    },
  );

  it.each([
    ['an answer', [caller('how are you'), agent('Fine, and')], 'rest_of_answer'],
    ['a greeting', [agent('Hello, this')], 'rest_of_answer'],
    ['the notice, which is told anew', [agent('This call')], 'nothing'],
    ['nothing that was heard', [], 'nothing'],
  ] as const)(
    'a call resumed from another process owes the rest of an interrupted answer: %s',
    (_, history, owed) => {
      expect(owedBy(history, true)).toBe(owed);
    },
  );

  it.each([
    ['nothing was said', [], true],
    ['the notice was begun', [agent('This call')], true],
    ['the caller spoke into the notice', [agent('This call'), caller('hello?')], true],
    ['the agent has gone on', [agent(RECORDING_NOTICE), agent('Hello.')], false],
    ['the agent has answered', [caller('hello?'), agent('Hello.')], false],
  ])(
    'a resumed call may still play the recording notice while its agent has said nothing else: %s',
    (_, history, may) => {
      expect(mayAnnounce(history)).toBe(may);
    },
  );
});
