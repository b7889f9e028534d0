import { ENGINE_LIMITS } from '../limits.ts';
import { digitsForWords } from './guide-numbers.ts';

const LEAD_IN =
  /^(?:(?:so|please|hey|and|now|ok|okay|can you|could you|tell me|whats|what is|what are|how much is|calculate|compute|work out|add)\s+)+/;
const SPOKEN: readonly (readonly [RegExp, string])[] = [
  [/\b(?:plus|added to)\b/g, '+'],
  [/\b(?:minus|less)\b/g, '-'],
  [/\b(?:times|multiplied by)\b/g, '*'],
  [/\b(?:divided by|over)\b/g, '/'],
  [/(?:%|\bper ?cent\b)\s*of\b/g, '/ 100 *'],
  [/[×x](?=\s*[\d(])/g, '*'],
  [/÷/g, '/'],
  [/(\d),(?=\d{3}\b)/g, '$1'],
];

/**
 * Returns the answer to a sum, written or spoken, such as `what is two plus 2`; undefined for anything that is not entirely a
 * sum. The length of the question and the depth of its brackets are bounded.
 */
export function answerSum(question: string): string | undefined {
  if (question.length > ENGINE_LIMITS.guide.arithmeticChars) return undefined;
  const plain = question
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[?!=.]+\s*$/, '')
    .replace(/(?:\s+(?:please|equals?))+$/, '')
    .trim()
    .replace(LEAD_IN, '');
  const sum = SPOKEN.reduce((text, [from, to]) => text.replace(from, to), digitsForWords(plain));
  if (!/^[\d\s.+\-*/()]+$/.test(sum) || !/\d.*[+\-*/].*\d/.test(sum)) return undefined;
  const result = evaluate(sum.match(/\d+(?:\.\d+)?|[+\-*/()]/g) ?? []);
  if (result === undefined) return undefined;
  if (!Number.isFinite(result)) return 'Nothing can be divided by zero.';
  return `That is ${Number(result.toPrecision(12))}.`;
}

/** Evaluates a sum of products of numbers and brackets; undefined when the tokens form no expression. */
function evaluate(marks: readonly string[]): number | undefined {
  let at = 0;
  const take = (...any: readonly string[]) =>
    any.includes(marks[at] ?? '') ? marks[at++] : undefined;

  function factor(): number {
    if (take('-') !== undefined) return -factor();
    if (take('(') !== undefined) {
      const inner = sum();
      return take(')') === undefined ? Number.NaN : inner;
    }
    return Number(marks[at++] ?? Number.NaN);
  }
  function product(): number {
    let value = factor();
    for (let sign = take('*', '/'); sign !== undefined; sign = take('*', '/')) {
      value = sign === '*' ? value * factor() : value / factor();
    }
    return value;
  }
  function sum(): number {
    let value = product();
    for (let sign = take('+', '-'); sign !== undefined; sign = take('+', '-')) {
      value = sign === '+' ? value + product() : value - product();
    }
    return value;
  }

  const value = sum();
  return at < marks.length || Number.isNaN(value) ? undefined : value;
}
