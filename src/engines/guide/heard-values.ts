import { isoTime } from '../../kernel/clock.ts';
import type { Json } from '../../kernel/json.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { digitsForWords } from './guide-numbers.ts';

/** A question, the guide's own answer, and the time, whose day is the value of dates. */
export type Heard = {
  readonly question: string;
  readonly answer: string;
  readonly nowMs: number;
};

const ASKS_WHOLE = /question|query|prompt|message|text|input|content|request/i;
const ASKS_ANSWER = /answer|reply|response|result|summary|message|text|content/i;
const NAME = /(?<=[^.?!\s]\s+)\p{Lu}[\p{L}\p{N}-]+(?: \p{Lu}[\p{L}\p{N}-]+)*/gu;
const NUMBER = /(?<![\w.])\d{1,15}(?:\.\d{1,6})?(?![\w]|\.\d)/g;
const NOON = { date: '', 'date-time': 'T12:00:00Z' } as const;
const FORMATS: Readonly<Record<string, string>> = {
  duration: 'PT1H',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  'json-pointer': '/0',
  regex: '.',
  time: '12:00:00Z',
  uri: 'https://example.com/',
  'uri-reference': '/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/** Texts and numbers of a question, each used in turn. The last text or number is repeated when more are needed. */
export class HeardValues {
  readonly #heard: Heard;
  /** Quotations, then words with a capital that do not begin a sentence. */
  readonly #names: string[];
  readonly #numbers: number[];

  constructor(heard: Heard) {
    this.#heard = heard;
    const { answer, question } = heard;
    const quoted = [...question.matchAll(/"([^"]+)"/g)].map(([, inner = '']) => inner);
    this.#names = [...quoted, ...(question.replace(/"[^"]+"/g, '').match(NAME) ?? [])];
    const counted = answer.startsWith('That is ') ? answer : question;
    this.#numbers = (digitsForWords(counted.toLowerCase()).match(NUMBER) ?? []).map(Number);
  }

  /** Returns the value that the question names, or else `usual`, or else the first value. */
  oneOf(values: readonly unknown[], usual: unknown): unknown {
    const spaced = (text: string) => ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')} `;
    const asked = spaced(this.#heard.question);
    const named = values.find((value) => asked.includes(spaced(String(value))));
    return named ?? (values.includes(usual) ? usual : values[0]);
  }

  /** Returns a number of the question within the bounds of `schema`, or else the number nearest to its lower bound. */
  number(schema: Json, isWhole: boolean): number {
    const bound = (name: string, other: number) => Number(schema[name] ?? other);
    const step = bound('multipleOf', isWhole ? 1 : 0);
    const [above, below] = [
      bound('exclusiveMinimum', Number.NEGATIVE_INFINITY),
      bound('exclusiveMaximum', Number.POSITIVE_INFINITY),
    ];
    const least = Math.max(bound('minimum', Number.NEGATIVE_INFINITY), above);
    const most = Math.min(bound('maximum', Number.POSITIVE_INFINITY), below);
    const fits = (value: number) =>
      value >= least &&
      value <= most &&
      value > above &&
      value < below &&
      (step === 0 || Number.isInteger(value / step));
    const at = this.#numbers.findIndex(fits);
    const said = this.#numbers[at];
    if (said !== undefined) {
      if (this.#numbers.length > 1) this.#numbers.splice(at, 1);
      return said;
    }
    const near = least > Number.NEGATIVE_INFINITY ? least : Math.min(0, most);
    const first = step === 0 ? near : Math.ceil(near / step) * step;
    const middle = most < Number.POSITIVE_INFINITY ? (near + most) / 2 : near + 1;
    return [first, step === 0 ? middle : first + step, first - step].find(fits) ?? first;
  }

  /** Returns a text for the member `name`, of the length, pattern and format of `schema` when given. */
  text({ format, maxLength, minLength, pattern }: Json, name: string): string {
    const { answer, nowMs, question } = this.#heard;
    const today = isoTime(nowMs).slice(0, 10);
    if (format === 'date' || format === 'date-time') return today + NOON[format];
    const words = question.split(/[\s,;!?()"]+/);
    if (typeof format === 'string' && Object.hasOwn(FORMATS, format)) {
      const marks = { email: '@', uri: '://' }[format];
      const said = marks === undefined ? undefined : words.find((word) => word.includes(marks));
      return said ?? FORMATS[format] ?? '';
    }
    const texts = [
      ASKS_ANSWER.test(name) ? answer : '',
      ASKS_WHOLE.test(name) ? question : '',
      ...this.#names,
      ...(pattern === undefined ? [] : words),
      question,
      name,
      'text',
    ];
    const isRight = new RegExp(String(pattern ?? ''), 'u');
    const bounds = [Number(minLength ?? 0), Number(maxLength ?? Number.POSITIVE_INFINITY)] as const;
    const found = texts
      .filter((text) => text !== '')
      .map((text) => fitted(text, ...bounds))
      .find((text) => isRight.test(text));
    if (this.#names.length > 1 && found === this.#names[0]) this.#names.shift();
    return found ?? '';
  }
}

/** Returns `text`, cut to `most` characters or padded with dots to `least` characters (at most `schemaTextChars`). */
function fitted(text: string, least: number, most: number): string {
  const cut = [...text].slice(0, most);
  const missing = Math.min(least, ENGINE_LIMITS.guide.schemaTextChars) - cut.length;
  return cut.join('') + '.'.repeat(Math.max(0, missing));
}
