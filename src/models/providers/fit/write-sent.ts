import { copyDigits, writeDigits } from '../../../kernel/json/digits.ts';
import { wellFormed } from '../../../kernel/json/well-formed.ts';

/** The JSON of a request that was made of `given`, with the digits that its numbers came with. */
export const writeSentJson = (given: object, sent: object): string =>
  wellFormed(writeDigits(copyDigits(given, sent)));
