import { NOISES, type Noise } from './said-sound.ts';

/** What a caller says, when, and over which line. */
export type HardTurn = {
  readonly group: string;
  /** What the agent begins with. */
  readonly greeting: string;
  /** Texts, and pauses in milliseconds. */
  readonly parts: readonly (string | number)[];
  /** When the caller begins: from the end of the greeting, or from its begin. */
  readonly startsAt: { readonly from: 'begin' | 'end'; readonly ms: number };
  readonly noise?: Noise;
  readonly gain?: number;
  /** Another person speaks behind the caller. */
  readonly isBeside?: boolean;
};

const HELLO = 'Hello.';
const NUMBER = 'What is your phone number?';
const NAME = 'Could you spell your last name?';
const LONG =
  'We are open from nine to five on weekdays, and from ten to two on Saturdays. On Sundays we are closed all day.';
const QUESTION = 'Thanks for calling. Would you like to book a table?';

const AFTER = { from: 'end', ms: 500 } as const;
const WITHIN = { from: 'begin', ms: 2_000 } as const;

const turns = (
  group: string,
  said: readonly (readonly (string | number)[])[],
  greeting = HELLO,
  startsAt: HardTurn['startsAt'] = AFTER,
): HardTurn[] => said.map((parts) => ({ group, greeting, parts, startsAt }));

const NUMBERS = [
  ['My phone number is four one five', 600, 'five five five', 700, 'oh one two three.'],
  ['My phone number is', 800, 'two one two five five five', 600, 'zero one nine nine.'],
];
const ASKED_NUMBERS = [
  ['four one five', 700, 'five five five', 900, 'two six seven one.'],
  ['It is two one two', 500, 'five five five', 600, 'zero one', 500, 'nine nine.'],
];
const SPELLED = [
  ['B', 400, 'R', 400, 'O', 400, 'W', 400, 'N.'],
  ['Smith.', 500, 'S M', 600, 'I T H.'],
  ['It is J', 500, 'O N', 500, 'E S.'],
];
const HESITATIONS = [
  ['I think', 600, 'um', 700, 'I would like to book a table.'],
  ['I would like to', 900, 'change my appointment.'],
  ['Could you tell me if', 700, 'you are open on Monday?'],
  ['I wanted to ask about the', 800, 'price of a room.'],
];
const AFTERTHOUGHTS = [
  ['I would like to book a table.', 700, 'For two people.'],
  ['Are you open tomorrow?', 600, 'In the evening, I mean.'],
];
const SIGNS = [['mm-hmm'], ['uh-huh'], ['right'], ['I see'], ['okay'], ['yeah']];
const INTERRUPTIONS = [
  ['Stop.'],
  ['Wait a moment.'],
  ['No, that is wrong.'],
  ['Can I ask you something else?'],
  ['Hold on please.'],
  ['I need to speak to a person.'],
];
const PLAIN = ['What is my balance?'];

/** Offsets around the end of the question, in milliseconds, and a short answer to it. */
const OFFSETS = [-900, -700, -500, -350, -200, -100, 0, 130, 250, 400, 700, 1_000];
const SHORT = ['Yes.', 'No.', 'Sure.', 'Yes please.'];

export const HARD_TURNS: readonly HardTurn[] = [
  ...turns('numbers', NUMBERS),
  ...turns('numbers', ASKED_NUMBERS, NUMBER),
  ...turns('spelling', SPELLED, NAME),
  ...turns('hesitation', HESITATIONS),
  ...turns('afterthoughts', AFTERTHOUGHTS),
  ...turns('backchannels', SIGNS, LONG, WITHIN),
  ...turns('interruptions', INTERRUPTIONS, LONG, WITHIN),
  ...OFFSETS.flatMap((ms, nth) =>
    turns('short answers', [[SHORT[nth % SHORT.length] ?? '']], QUESTION, { from: 'end', ms }),
  ),
  ...NOISES.flatMap((noise) => turns('noise', [PLAIN]).map((turn) => ({ ...turn, noise }))),
  ...turns('two speakers', [PLAIN]).map((turn) => ({ ...turn, isBeside: true })),
  ...turns('soft voices', [PLAIN]).map((turn) => ({ ...turn, gain: 0.15 })),
];
