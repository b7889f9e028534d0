const ONES = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
  'thirteen',
  'fourteen',
  'fifteen',
  'sixteen',
  'seventeen',
  'eighteen',
  'nineteen',
];
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const SCALES = ['', ' thousand', ' million', ' billion', ' trillion'];
const ORDINALS: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
};

/** The digits of a number that has a name: above them it is read digit by digit. */
const MOST_DIGITS = 15;

const wordOf = (n: number): string => ONES[n] ?? '';

function belowHundred(n: number): string {
  if (n < 20) return wordOf(n);
  const rest = n % 10;
  return `${TENS[Math.floor(n / 10)] ?? ''}${rest === 0 ? '' : `-${wordOf(rest)}`}`;
}

function belowThousand(n: number): string {
  const hundreds = Math.floor(n / 100);
  const rest = n % 100;
  if (hundreds === 0) return belowHundred(rest);
  return `${wordOf(hundreds)} hundred${rest === 0 ? '' : ` ${belowHundred(rest)}`}`;
}

/** Returns digits as separate words: `zero four one`. */
export const digitWords = (digits: string): string => Array.from(digits, spokenDigit).join(' ');

const spokenDigit = (digit: string): string => wordOf(Number(digit));

/** Returns a whole number (digits only) in words: `one thousand two hundred fifty`. */
export function cardinal(digits: string): string {
  if (digits.length > MOST_DIGITS) return digitWords(digits);
  let rest = Number(digits);
  if (rest === 0) return wordOf(0);
  const parts: string[] = [];
  for (let scale = 0; rest > 0; scale++) {
    const part = rest % 1_000;
    if (part > 0) parts.unshift(`${belowThousand(part)}${SCALES[scale] ?? ''}`);
    rest = Math.floor(rest / 1_000);
  }
  return parts.join(' ');
}

/**
 * Returns a number in words, with or without a fraction: `three point one four`. With commas between thousands, a fraction of 0
 * is left out.
 */
export function decimal(text: string): string {
  const [whole = '', fraction = ''] = text.replaceAll(',', '').split('.', 2);
  const words = cardinal(whole === '' ? '0' : whole);
  const isWhole = fraction === '' || (text.includes(',') && /^0+$/.test(fraction));
  return isWhole ? words : `${words} point ${digitWords(fraction)}`;
}

/** `twenty-third` for `23`. */
export function ordinal(digits: string): string {
  const words = cardinal(digits);
  return words.replace(/[a-z]+$/, (last) => {
    const known = ORDINALS[last];
    if (known !== undefined) return known;
    return last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`;
  });
}

/** `nineteen nineties` for `1990`, which ends with 0. */
export const decade = (digits: string): string =>
  year(digits).replace(/y$|(?<!y)$/, (end) => (end === 'y' ? 'ies' : 's'));

/** Returns a year of four digits in words: `nineteen eighty-four`, `two thousand five`, `twenty twenty-six`. */
export function year(digits: string): string {
  const century = Number(digits.slice(0, 2));
  const rest = Number(digits.slice(2));
  if (century % 10 === 0 && rest < 10) return cardinal(digits);
  if (rest === 0) return `${belowHundred(century)} hundred`;
  return `${belowHundred(century)} ${rest < 10 ? `oh ${wordOf(rest)}` : belowHundred(rest)}`;
}
