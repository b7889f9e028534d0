import { copyDigits, writeDigits } from '../../../kernel/json/digits.ts';
import { wellFormed } from './well-formed.ts';

/** Writes the JSON of a request that was made from `given`. Numbers keep the digits that they had in `given`. */
export const writeSentJson = (given: object, sent: object): string =>
  wellFormed(writeDigits(copyDigits(given, sent)));
