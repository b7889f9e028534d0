import { writeDigits } from '../../kernel/json/digits.ts';
import { isObject } from '../../kernel/json.ts';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the text of an answer's message or of a piece of one. Some vendors send a list of parts. */
export const contentText = (content: unknown): string =>
  Array.isArray(content)
    ? content.map((part: unknown) => (isObject(part) ? textOf(part.text) : '')).join('')
    : textOf(content);

/** Returns the arguments of a call, or a piece of them, as text. Some vendors send an object instead of text. */
export const argumentsText = (value: unknown): string =>
  typeof value === 'object' && value !== null ? writeDigits(value) : textOf(value);
