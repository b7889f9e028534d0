import { beforeEach, describe, expect, it } from 'vitest';
import { PHONE_LIMITS } from '../../../../src/phone/limits.ts';
import { BargeIn } from '../../../../src/phone/voice/barge-in.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const LOUD_MS: number = PHONE_LIMITS.interruption.bargeInMs;
const OVER = { mayInterrupt: true };

let done: string[];
/** The sound of the answer that is still to be heard, whether more of it is made, and whether it is at a question's end. */
let answer: { leftMs: number; isMade: boolean; isAtQuestion: boolean; isEndAwaited: boolean };
let bargeIn: BargeIn;
let clock: ManualClock;

beforeEach(() => {
  done = [];
  answer = { leftMs: 5_000, isMade: false, isAtQuestion: false, isEndAwaited: false };
  clock = new ManualClock();
  bargeIn = new BargeIn(deps());
});

function deps(): ConstructorParameters<typeof BargeIn>[0] {
  const note = (name: string) => () => void done.push(name);
  return {
    clock,
    line: {
      get leftMs() {
        return answer.leftMs;
      },
      get isEndAwaited() {
        return answer.isEndAwaited;
      },
      pause: note('pause'),
      resume: note('resume'),
      holdEnd: note('hold'),
      releaseEnd: note('release'),
      forgetAfterPlayed: note('forget'),
    },
    isAnswering: () => !answer.isMade,
    isAtQuestion: () => answer.isAtQuestion,
    interrupt: note('interrupt'),
  };
}

/** What was done since the last look. */
const since = (): string[] => done.splice(0);

function pauses(itemId: string): void {
  bargeIn.speechStarted(itemId, OVER);
  bargeIn.loud(LOUD_MS);
}

describe('utterances that overlap their transcripts', () => {
  it('overlapping utterances keep the line paused and its end held until the last one has its words', () => {
    pauses('a');
    pauses('b');
    since();
    bargeIn.heard('a', 'mhm');
    expect([bargeIn.isAddressed, since()]).toEqual([false, ['pause']]);
    bargeIn.heard('b', 'okay');
    expect([bargeIn.isAddressed, since()]).toEqual([false, ['resume', 'release']]);
  });

  it('overlapping utterances can each interrupt the answer', () => {
    pauses('a');
    bargeIn.speechStarted('b', OVER);
    since();
    bargeIn.heard('a', 'stop it');
    expect([bargeIn.isAddressed, since()]).toEqual([true, ['forget', 'interrupt', 'resume']]);
    expect(bargeIn.isMeasuring).toBe(true);
    bargeIn.loud(LOUD_MS);
    bargeIn.heard('b', 'stop it now');
    expect(since()).toEqual(['pause', 'forget', 'interrupt', 'resume', 'release']);
  });

  it('overlapping utterances are at most 16, and a 17th makes the oldest one release the answer', () => {
    pauses('0');
    for (let n = 1; n < 16; n++) bargeIn.speechStarted(`${n}`, OVER);
    expect(since()).not.toContain('resume');
    bargeIn.speechStarted('16', OVER);
    expect(since()).toEqual(['hold', 'resume']);
    bargeIn.heard('0', 'stop it');
    expect([bargeIn.isAddressed, since()]).toEqual([true, []]);
  });
});

it('an utterance that is dropped lets the answer and its end go on', () => {
  pauses('a');
  since();
  bargeIn.forgotten('a');
  bargeIn.forgotten('a');
  expect(since()).toEqual(['resume', 'release']);
});

it('a paused answer resumes after 8 seconds without the words of the utterance, and words that come later are answered', () => {
  pauses('a');
  since();
  clock.advance(8_000);
  expect(since()).toEqual(['resume']);
  bargeIn.heard('a', 'so that is why');
  expect([bargeIn.isAddressed, since()]).toEqual([true, ['forget', 'resume', 'release']]);
});

it('a closed barge-in detector ignores further words and no longer resumes the line', () => {
  pauses('a');
  bargeIn.close();
  since();
  bargeIn.heard('a', 'stop it');
  bargeIn.interim('a', 'stop it');
  clock.advance(8_000);
  expect([bargeIn.isMeasuring, since()]).toEqual([false, []]);
});

/** Says `words` over an answer, loud for `loudMs`. Returns what was done beside holding the end. */
function saysOver(words: string, loudMs = LOUD_MS): readonly string[] {
  bargeIn.speechStarted('a', OVER);
  bargeIn.loud(loudMs);
  since();
  bargeIn.heard('a', words);
  return since();
}

describe('words over an answer that goes on', () => {
  it.each([
    ['uh-huh', 400],
    ['mm-hmm', 400],
    ['m m h m m', 400],
    ['right', 450],
    ['I see', 450],
    ['assad', 400],
    ['you have', 260],
    ['and he', 340],
    // What the local recogniser made of signs of listening, and for how long they were loud.
    ['but he', 400],
    ['you have', 400],
    ['but she', 480],
    ['the vote', 300],
    ['and and made ten man', 1_080],
    ['animation them', 980],
    ['image him', 700],
  ])(
    'a backchannel or a hum over an answer lets it resume where it was heard: %j',
    (words, loudMs) => {
      expect(saysOver(words, loudMs)).toEqual(['resume', 'release']);
      expect(bargeIn.isAddressed).toBe(false);
    },
  );

  it.each([
    ['stop', 300],
    ['no', 260],
    ['that is wrong', 600],
    ['not that', 360],
    ['my account number', 300],
    ['tuesday', 520],
    ['wayne moment', 600],
    ['can i', 620],
    ['yeah but', 300],
    ['and and made ten man', 1_400],
    ['我想问一下', 600],
  ])('words over an answer interrupt it: %j', (words, loudMs) => {
    expect(saysOver(words, loudMs)).toEqual(['forget', 'interrupt', 'resume', 'release']);
    expect(bargeIn.isAddressed).toBe(true);
  });

  it.each([
    ['stop', 60],
    ['hold on', 140],
    ['okay wait', 0],
  ])(
    'words over an answer interrupt it, however short they are, when they demand silence: %j',
    (words, loudMs) => {
      expect(saysOver(words, loudMs)).toContain('interrupt');
      expect(bargeIn.isAddressed).toBe(true);
    },
  );

  it.each([['no'], ['what'], ['two'], ['']])(
    'words over an answer let it go on when they are shorter than the minimum and demand no silence: %j',
    (words) => {
      expect(saysOver(words, 60)).not.toContain('interrupt');
    },
  );

  /** Says `words` over an answer, so softly that it is not paused, with so much of consonants and vowels. */
  function articulates(words: string, consonantMs: number, vowelMs: number): readonly string[] {
    bargeIn.speechStarted('a', OVER);
    bargeIn.consonant(consonantMs);
    bargeIn.vowel(vowelMs);
    bargeIn.loud(60);
    since();
    bargeIn.heard('a', words);
    return since();
  }

  // "Stop." of two voices, as the local recogniser heard it.
  it.each([
    ['some', 140, 120],
    ['top', 60, 180],
    ['cat', 60, 160],
  ])(
    'words over an answer interrupt it when one word was articulated: %j',
    (words, consonantMs, vowelMs) => {
      expect(articulates(words, consonantMs, vowelMs)).toContain('interrupt');
      expect(bargeIn.isAddressed).toBe(true);
    },
  );

  it.each([
    ['op', 0, 380, '"uh-huh" has no such consonant'],
    ['both', 0, 280, 'nor has "oh"'],
    ['cat', 200, 40, 'a cough has no vowel'],
    ['share', 120, 260, '"sure" has the same consonants'],
    ['years', 200, 280, '"yes" has, too'],
    ['the', 80, 120, 'a recogniser makes it of a noise'],
    ['right', 60, 300, 'a sign of listening'],
    ['the top', 80, 180, 'two words are judged by their length'],
  ])(
    'words over an answer let it go on when they may be a backchannel or a noise: %j, %i and %i ms',
    (words, consonant, vowel) => {
      expect(articulates(words, consonant, vowel)).not.toContain('interrupt');
    },
  );

  it('words over an answer interrupt it before they are final once two interim texts begin with the same two words', () => {
    bargeIn.speechStarted('a', OVER);
    bargeIn.loud(600);
    since();
    bargeIn.interim('a', 'and');
    bargeIn.interim('a', 'i would');
    expect(since()).toEqual([]);
    bargeIn.interim('a', 'i would like');
    expect(since()).toEqual(['forget', 'interrupt']);
  });

  it('interim words over an answer are ignored while their sound is short, since a hum has interim words as well', () => {
    bargeIn.speechStarted('a', OVER);
    bargeIn.loud(400);
    since();
    bargeIn.interim('a', 'and made ten');
    bargeIn.interim('a', 'and made ten man');
    expect(since()).toEqual([]);
    bargeIn.heard('a', 'mhm');
    expect(since()).toEqual(['resume', 'release']);
  });

  it('interim words that change during a long hum do not interrupt the answer', () => {
    bargeIn.speechStarted('a', OVER);
    bargeIn.loud(900);
    since();
    bargeIn.interim('a', 'and and');
    bargeIn.interim('a', 'and and made ten');
    expect(since()).toEqual([]);
  });
});

describe('a short answer at the end of what the agent says', () => {
  it.each([
    ['yes', 150],
    ['yes', 300],
    ['okay', 400],
    ['no', 120],
    ['two', 200],
  ])(
    'a short answer of the caller counts when nothing more is played after it: %j, loud for %i ms',
    (words, loudMs) => {
      bargeIn.speechStarted('a', OVER);
      bargeIn.loud(loudMs);
      answer = { ...answer, leftMs: 0, isMade: true };
      since();
      bargeIn.heard('a', words);
      expect([bargeIn.isAddressed, since()]).toEqual([true, ['forget', 'resume', 'release']]);
    },
  );

  it.each([
    ['yes', 150],
    ['sure', 300],
  ])(
    'a short answer over the end of a question counts, and the rest of the question is dropped: %j',
    (words, loudMs) => {
      answer.isAtQuestion = true;
      expect(saysOver(words, loudMs)).toEqual(['forget', 'interrupt', 'resume', 'release']);
      expect(bargeIn.isAddressed).toBe(true);
    },
  );

  it('a short answer counts when a question has just ended and the agent goes on', () => {
    bargeIn.speechStarted('a', OVER);
    answer.isAtQuestion = true;
    bargeIn.speechStarted('b', OVER);
    answer.isAtQuestion = false;
    bargeIn.heard('b', 'yes');
    expect(bargeIn.isAddressed).toBe(true);
  });

  it("a backchannel near the end of the agent's speech does not cut the rest of it, and any other word does", () => {
    answer = { leftMs: 0, isMade: true, isAtQuestion: false, isEndAwaited: true };
    answer.leftMs = 300;
    expect(saysOver('okay')).toEqual(['resume', 'release']);
    expect(bargeIn.isAddressed).toBe(false);
    expect(saysOver('wait')).toContain('interrupt');
  });
});

it('no words of the caller interrupt an answer when interruption is off', () => {
  const rules = { isOn: false, minMs: 250, minWords: 2, ignoreWords: new Set<string>() };
  const { line, ...rest } = deps();
  const patient = new BargeIn({ ...rest, line, rules });
  patient.speechStarted('a', OVER);
  patient.loud(2_000);
  patient.heard('a', 'stop it now');
  expect([patient.isAddressed, since()]).toEqual([false, ['hold', 'resume', 'release']]);
  patient.speechStarted('b', OVER);
  patient.heard('b', 'stop');
  expect(patient.isAddressed).toBe(false);
});
