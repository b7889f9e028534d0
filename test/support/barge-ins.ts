import type { Clock } from '../../src/kernel/clock.ts';
import type { phoneCallOn } from './phone-line.ts';

/** Words of 100 ms each. */
export const LONG = 'One two three four. Five six seven eight. Nine ten eleven twelve.';
/** What every interruption is answered with: 100 ms. */
export const ANSWER = 'Yes.';
export const ANSWER_MS = 100;
/** Of the carrier's playback after a clear: the frame that it plays, and the one that is due. */
export const SILENT_AFTER_MS = 40;
const FRAME_MS = 20;
/** Sound that follows another so closely is the same sound. */
const PAUSE_MS = 100;
/** Where nothing was left to clear, the decision comes within so long. */
const DECIDED_MS = 400;

type Phone = Awaited<ReturnType<typeof phoneCallOn<Clock>>>;

/** What became of an answer that a caller spoke over, by the sound at the caller alone. */
export type BargeIn = {
  /** From the first loud frame of the caller to the clear. Undefined: nothing was left to clear. */
  readonly clearMs: number | undefined;
  /** From the clear to the end of the sound that was heard then. */
  readonly silentMs: number;
  /** Sound of the interrupted answer that was heard later than 40 ms after the clear. */
  readonly leakedMs: number;
  /** What was heard before the caller spoke, and until the clear. */
  readonly heardMs: number;
  readonly heardUntilClearMs: number;
};

/** A moment at which a caller interrupts. */
export type BargeInCase = {
  readonly name: string;
  /** What is said when the call begins. */
  readonly beginMessage?: string;
  /** Plays it to its end, and answers what became of it. */
  run(phone: Phone): Promise<BargeIn>;
};

/** Of speech that began after `fromMs`, and was answered once. */
function bargeInOf({ callee, clears }: Phone, fromMs: number): BargeIn {
  const beganMs = callee.saidAtMs.find((at) => at >= fromMs) ?? Number.NaN;
  const clearedMs = clears.find((at) => at > beganMs);
  const decidedMs = clearedMs ?? beganMs + DECIDED_MS;
  let soundsUntilMs = decidedMs;
  for (const at of callee.heardAtMs.filter((at) => at > decidedMs - FRAME_MS)) {
    if (at > soundsUntilMs + PAUSE_MS) break;
    soundsUntilMs = at + FRAME_MS;
  }
  return {
    clearMs: clearedMs && clearedMs - beganMs,
    silentMs: soundsUntilMs - decidedMs,
    leakedMs: callee.heardMs(decidedMs + SILENT_AFTER_MS) - ANSWER_MS,
    heardMs: callee.heardMs(0, beganMs),
    heardUntilClearMs: callee.heardMs(0, decidedMs),
  };
}

/** The caller interrupts, and is answered. Answers when it began. */
export async function interrupt(phone: Phone): Promise<number> {
  const { answers, callee, clock, engines, passes } = phone;
  engines.stt.pocketsphinx.script.push('wait a moment please');
  answers(ANSWER);
  const fromMs = clock.monotonicMs();
  callee.speak(600);
  await passes(1_800);
  return fromMs;
}

/** The second sentence of the next answer is not spoken until this is called. */
function holdSecondSentence({ engines }: Phone): () => void {
  let go = () => {};
  engines.tts.flite.between = () => {
    engines.tts.flite.between = undefined;
    return new Promise((resolve) => {
      go = resolve;
    });
  };
  return () => go();
}

/** The words of no utterance are known until this is called. */
function holdWords({ engines }: Phone): () => void {
  const held: (() => void)[] = [];
  engines.stt.pocketsphinx.decoding = () => new Promise((resolve) => held.push(resolve));
  return () => {
    engines.stt.pocketsphinx.decoding = undefined;
    for (const release of held) release();
  };
}

/** An answer whose second sentence is made once the caller has interrupted the first. */
async function interruptFirstSentence(phone: Phone, answer: string): Promise<BargeIn> {
  const go = holdSecondSentence(phone);
  phone.answers(answer);
  await phone.says('count');
  const fromMs = await interrupt(phone);
  go();
  await phone.passes(1_000);
  return bargeInOf(phone, fromMs);
}

async function interruptBeforeNext(phone: Phone, next: string): Promise<BargeIn> {
  phone.answers('One two three four. Five six seven eight.');
  await phone.says('count');
  phone.call.say(next);
  await phone.passes(100);
  return bargeInOf(phone, await interrupt(phone));
}

/** Something is heard over an answer, and before it is known which words those are, the caller interrupts. */
async function interruptAfter(
  phone: Phone,
  first: { readonly words: string; readonly ms: number; readonly isNoise?: boolean },
  words: string,
): Promise<BargeIn> {
  const { answers, callee, clock, engines, passes, says } = phone;
  answers(`${LONG} ${LONG}`);
  await says('count');
  const know = holdWords(phone);
  engines.stt.pocketsphinx.script.push(first.words, words);
  answers(ANSWER);
  const firstMs = clock.monotonicMs();
  callee.speak(first.ms);
  await passes(first.ms + 600);
  const secondMs = clock.monotonicMs();
  callee.speak(600);
  await passes(1_300);
  know();
  await passes(1_000);
  // A noise has to leave the answer alone, and all other sound pauses it.
  return bargeInOf(phone, first.isNoise ? secondMs : firstMs);
}

/** The moments at which callers interrupt. What they say is answered with `ANSWER`. */
export const BARGE_INS = {
  whileMade: {
    name: 'while the answer is made',
    async run(phone) {
      const { guide } = phone.engines;
      guide.thinking = () => {
        guide.thinking = undefined;
        return new Promise(() => {});
      };
      await phone.says('count');
      return bargeInOf(phone, await interrupt(phone));
    },
  },
  whilePlayed: {
    name: 'while it is played',
    async run(phone) {
      phone.answers(LONG);
      await phone.says('count');
      return bargeInOf(phone, await interrupt(phone));
    },
  },
  betweenSentences: {
    name: 'between two sentences',
    run: (phone) => interruptFirstSentence(phone, LONG),
  },
  beforeLateSound: {
    name: 'before more of it is made',
    run: (phone) =>
      interruptFirstSentence(
        phone,
        'One two three four five six seven eight. Nine ten eleven twelve.',
      ),
  },
  beforeNextIsMade: {
    name: 'while the next answer is made',
    run: (phone) =>
      interruptBeforeNext(phone, 'Nine ten eleven twelve. Thirteen fourteen fifteen.'),
  },
  beforeNextIsPlayed: {
    name: 'when the next answer was sent',
    run: (phone) => interruptBeforeNext(phone, 'Nine.'),
  },
  withinGreeting: {
    name: 'within the greeting',
    beginMessage: LONG,
    async run(phone) {
      await phone.passes(300);
      return bargeInOf(phone, await interrupt(phone));
    },
  },
  twiceInASecond: {
    name: 'twice in a second',
    async run(phone) {
      const { answers, callee, clock, engines, passes, says } = phone;
      answers(LONG);
      await says('count');
      answers(LONG);
      answers(ANSWER);
      engines.stt.pocketsphinx.script.push('stop it now', 'no really stop');
      callee.speak(400);
      // The answer to the first begins 500 ms after it, and the caller speaks over its first words.
      await passes(1_000);
      const fromMs = clock.monotonicMs();
      callee.speak(600);
      await passes(1_800);
      return bargeInOf(phone, fromMs);
    },
  },
  afterASign: {
    name: 'right after a sign of listening',
    run: (phone) => interruptAfter(phone, { words: 'mhm', ms: 420 }, 'stop it now'),
  },
  afterANoise: {
    name: 'right after a noise',
    run: (phone) => interruptAfter(phone, { words: 'the', ms: 160, isNoise: true }, 'stop it now'),
  },
  twiceUnknown: {
    name: 'twice before the words of the first are known',
    run: (phone) => interruptAfter(phone, { words: 'stop it now', ms: 500 }, 'and tell me why'),
  },
} as const satisfies Readonly<Record<string, BargeInCase>>;
