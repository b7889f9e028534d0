import { describe, expect, it } from 'vitest';
import { isBackchannel } from '../../../../src/phone/voice/backchannel.ts';

describe('a backchannel', () => {
  it.each([
    ['mhm'],
    ['Mm-hmm.'],
    ['uh-huh'],
    ['Uh huh'],
    ['hmm'],
    ['yeah'],
    ['Yeah, yeah.'],
    ['yeahhh'],
    ['yep'],
    ['okay'],
    ['OK.'],
    ['ok'],
    ['right'],
    ['Right, right, okay'],
    ['sure'],
    ['I see.'],
    ['oh, I see'],
    ['got it'],
    ['all right'],
    ['ah'],
    ['aha'],
    ['haha'],
    ['hahaha'],
    ['[laughter]'],
    ['(laughs)'],
  ])('a backchannel is recognised in %j', (transcript) => {
    expect(isBackchannel(transcript)).toBe(true);
  });

  it.each([
    [''],
    ['…'],
    ['no'],
    ['stop'],
    ['wait'],
    ['hello'],
    ['okay stop'],
    ['yeah but'],
    ['right now'],
    ['see'],
    ['got'],
    ['I see a problem'],
    ['yeah yeah yeah yeah yeah'],
    ['yes I want to cancel'],
    ['five'],
    ['ham'],
    ['home'],
    ['mom'],
    ['多谢'],
  ])('a backchannel is not recognised in %j', (transcript) => {
    expect(isBackchannel(transcript)).toBe(false);
  });

  it('a backchannel is never longer than 64 characters, so that no transcript takes long to judge', () => {
    expect(isBackchannel('ha'.repeat(32))).toBe(true);
    expect(isBackchannel('ha'.repeat(33))).toBe(false);
  });
});
