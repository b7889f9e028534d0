import { sayNumbers } from './english-numbers.ts';

const ABBREVIATIONS: Readonly<Record<string, string>> = {
  'e.g.': 'for example',
  'i.e.': 'that is',
  'etc.': 'et cetera',
  'vs.': 'versus',
  'approx.': 'approximately',
  'dept.': 'department',
  'mr.': 'Mister',
  'mrs.': 'Missus',
  'ms.': 'Miss',
  'prof.': 'Professor',
  'jr.': 'Junior',
  'sr.': 'Senior',
  'inc.': 'Incorporated',
  'ltd.': 'Limited',
  'corp.': 'Corporation',
  'ave.': 'Avenue',
  'blvd.': 'Boulevard',
  'rd.': 'Road',
  'mt.': 'Mount',
  'w/o': 'without',
  'w/': 'with ',
};
const ABBREVIATED = new RegExp(
  `(?<![\\p{L}\\p{N}.])(?:${Object.keys(ABBREVIATIONS)
    .map((word) => word.replaceAll('.', '\\.'))
    .join('|')})`,
  'giu',
);
/** `No. 7`, not `No.` */
const NUMBERED: readonly (readonly [RegExp, string])[] = [
  [/\bNos?\.\s?(?=\d)/g, 'number '],
  [/\b[Ff]igs?\.\s?(?=\d)/g, 'figure '],
  [/\b[Vv]ol\.\s?(?=\d)/g, 'volume '],
  [/\b[Cc]h\.\s?(?=\d)/g, 'chapter '],
  [/\bpp?\.\s?(?=\d)/g, 'page '],
  [/\b[Ee]xt\.\s?(?=\d)/g, 'extension '],
];
/** Before a name a doctor and a saint, behind one a drive and a street. */
const TITLES: readonly (readonly [RegExp, string])[] = [
  [/(?<=\d\S* (?:[A-Z][\p{L}'-]+ )*[A-Z][\p{L}'-]+ )Dr\.(?!\s[A-Z])/gu, 'Drive'],
  [/(?<=[A-Z][\p{L}'-]+ )St\.(?!\s[A-Z])/gu, 'Street'],
  [/(?<=\d\S* (?:[A-Z][\p{L}'-]+ )*[A-Z][\p{L}'-]+ )St\./gu, 'Street'],
  [/\bDr\.(?=\s\p{Lu})/gu, 'Doctor'],
  [/\bSt\.(?=\s\p{Lu})/gu, 'Saint'],
];
const EMAIL = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g;
const HOST =
  /(?<![\p{L}\p{N}@.])(?:www\.)?[a-z0-9][\w-]{0,62}(?:\.[\w-]{1,63}){0,3}\.(?:com|org|net|io|dev|ai|co|edu|gov|app|info|us|uk|ca|de|me)(?:\/[\w-]{1,40}){0,2}(?![\p{L}\p{N}])/giu;
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/\s&\s/g, ' and '],
  [/(?<=[A-Za-z])&(?=[A-Za-z])/g, ' and '],
  [/\s?(?:→|⇒|->|=>)\s?/g, ' to '],
  [/(?<=^|\s)[~≈]\s?(?=[$€£]?\d)/g, 'about '],
  [/(?<=^|\s)(?:≤|<=)\s?(?=[$€£]?\d)/g, 'at most '],
  [/(?<=^|\s)(?:≥|>=)\s?(?=[$€£]?\d)/g, 'at least '],
  [/(?<=^|\s)<\s?(?=[$€£]?\d)/g, 'less than '],
  [/(?<=^|\s)>\s?(?=[$€£]?\d)/g, 'more than '],
  [/(?<=[\d)])\s?[×*]\s?(?=[\d(])/g, ' times '],
  [/(?<=\S)\s\+\s(?=\S)/g, ' plus '],
  [/(?<=\S)\s=\s(?=\S)/g, ' equals '],
  [/(?<=\p{L})_(?=\p{L})/gu, ' '],
  [/\b(and|or|he|she|his)\/(or|and|she|he|her)\b/gi, '$1 $2'],
];

const MAY_HAVE_SIGNS = /[\d&@~≈<>≤≥→⇒×+=_/]|\.\S|\.\s*$|\p{L}\.\s/u;

const signsOf = (text: string): string =>
  text
    .replaceAll('.', ' dot ')
    .replaceAll('_', ' underscore ')
    .replaceAll('-', ' dash ')
    .replaceAll('/', ' slash ')
    .replaceAll('@', ' at ')
    .replaceAll('+', ' plus ');

/** Returns an English text as it is read aloud: numbers, amounts of money, abbreviations, addresses and signs in words. */
export function readEnglish(text: string): string {
  if (!MAY_HAVE_SIGNS.test(text)) return text;
  let said = text
    .replace(EMAIL, (match) => addressOf(match))
    .replace(HOST, (match) => signsOf(match.replace(/^www\./i, '')));
  for (const [pattern, word] of [...NUMBERED, ...TITLES]) said = said.replace(pattern, word);
  said = said.replace(ABBREVIATED, (found) => ABBREVIATIONS[found.toLowerCase()] ?? found);
  for (const [pattern, word] of SIGNS) said = said.replace(pattern, word);
  said = sayNumbers(said).replace(/ {2,}/g, ' ').trim();
  // The full stop of an abbreviation ended the sentence as well.
  return /\.\s*$/.test(text) && /[\p{L}\p{N}]$/u.test(said) ? `${said}.` : said;
}

/** Returns an address in words. A full stop after the address stays outside, because it ends the sentence. */
function addressOf(match: string): string {
  const [, address = '', end = ''] = /^(.*?)([.-]*)$/.exec(match) ?? [];
  return `${signsOf(address)}${end}`;
}
