import { stem, wordsOf } from '../guide-words.ts';
import type { QuestionWords } from './question-words.ts';

/** Something that may be filled in. */
export type Candidate = {
  readonly value: unknown;
  /** The question itself names it for this place. */
  readonly isMeant: boolean;
  /** What of the question it takes, so that the next place takes something else. */
  readonly takes?: string;
};

const PLACE = 'city location place town country address where region area venue'.split(' ');
const TARGET = 'to destination recipient receiver arrival target assignee'.split(' ');
const ORIGIN = 'from origin sender departure source start'.split(' ');
const PERSON = 'name user customer contact person guest title owner'.split(' ');
const SAYING = 'message text body content note description comment'.split(' ');
const ASKING = 'query question q search term topic subject prompt input keyword keywords'.split(
  ' ',
);
const SUM = 'expression formula calculation equation'.split(' ');
const REPLY = 'answer reply response output result summary explanation conclusion'.split(' ');

const LEADS: readonly { readonly of: readonly string[]; readonly before: readonly string[] }[] = [
  { of: TARGET, before: ['to', 'into'] },
  { of: ORIGIN, before: ['from'] },
  { of: PLACE, before: ['in', 'at', 'near', 'for', 'to', 'from', 'of'] },
  { of: PERSON, before: ['named', 'called', 'for', 'with', 'by', 'to', 'of'] },
  { of: SAYING, before: ['saying'] },
  { of: ASKING, before: ['for', 'about', 'on'] },
];

const MOST_NAME_CHARS = 100;

/** The words of a member's name: `startDate` is `start date`. */
const nameWords = (name: string): readonly string[] =>
  wordsOf(
    name
      .slice(0, MOST_NAME_CHARS)
      .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
      .replaceAll('_', ' '),
  );

const speaksOf = (name: readonly string[], any: readonly string[]) =>
  name.some(
    (word) => any.includes(word) || any.includes(stem(word)) || any.includes(singular(word)),
  );

const singular = (word: string) => word.replace(/ies$/, 'y').replace(/s$/, '');

/** Texts of a question for a member of this name, those first that are meant for it. */
export function fitTexts(words: QuestionWords, name: string): Candidate[] {
  const named = nameWords(name);
  const meant = (value: string, kind: string): Candidate => ({
    value,
    isMeant: true,
    takes: `${kind} ${value}`,
  });
  const found: Candidate[] = [];
  if (speaksOf(named, ['email', 'mail'])) found.push(...words.emails.map((one) => meant(one, '@')));
  if (speaksOf(named, ['url', 'uri', 'link', 'website', 'page', 'href'])) {
    found.push(...words.urls.map((one) => meant(one, 'url')));
  }
  found.push(...labelled(words, named).map((one) => meant(one, 'text')));
  if (speaksOf(named, ['date', 'day', 'when'])) {
    found.push(...words.dates.map((one) => meant(one, 'date')));
  }
  if (speaksOf(named, ['time', 'hour'])) {
    found.push(...words.times.map((one) => meant(one.slice(0, 5), 'time')));
  }
  if (speaksOf(named, ['id', 'uuid', 'ip', 'phone', 'number', 'telephone'])) {
    found.push(...words.others.map((one) => meant(one, 'other')));
  }
  if (speaksOf(named, SUM)) found.push(...sumsOf(words.text).map((one) => meant(one, 'sum')));
  if (speaksOf(named, REPLY) && words.answer !== '') {
    found.push({ value: words.answer, isMeant: true });
  }
  const leads = LEADS.filter(({ of }) => speaksOf(named, of)).flatMap(({ before }) => before);
  const isName = leads.length > 0;
  // A spoken text is often quoted too, and may fill two members.
  const isSaying = speaksOf(named, SAYING);
  if (isSaying) found.push(...words.quoted.map((value) => ({ value, isMeant: true })));
  else if (isName) found.push(...words.quoted.map((one) => meant(one, 'text')));
  const behind = leads.flatMap((lead) => words.named.filter(({ before }) => before === lead));
  if (speaksOf(named, PLACE)) {
    // A place has a capital where anything has.
    const capitals = [...behind, ...words.named].filter(({ text }) => /^\p{Lu}/u.test(text));
    found.push(...capitals.map(({ text }) => meant(text, 'text')));
  }
  found.push(...behind.map(({ text }) => meant(text, 'text')));
  if (isName && !speaksOf(named, [...SAYING, ...ASKING])) {
    const plain = words.named.filter(({ before }) => before === '');
    found.push(...plain.map(({ text }) => meant(text, 'text')));
  }
  if (speaksOf(named, [...SAYING, ...ASKING]) && words.text !== '') {
    found.push({ value: words.text, isMeant: true });
  }
  return found;
}

/** Texts of a question for whatever has no better one. */
export function anyTexts({ named, quoted, text }: QuestionWords): Candidate[] {
  const texts = [...quoted, ...named.map(({ text: name }) => name)];
  return [
    ...texts.map((value) => ({ value, isMeant: false, takes: `text ${value}` })),
    ...(text === '' ? [] : [{ value: text, isMeant: false }]),
  ];
}

/** Single words and marked parts of a question, for what has a pattern or a format. */
export function shapedTexts(words: QuestionWords): Candidate[] {
  const parts = [
    ...[...words.emails, ...words.urls, ...words.others, ...words.quoted, ...words.dates],
    ...words.times.flatMap((time) => [`${time}Z`, time, time.slice(0, 5)]),
    ...words.dates.flatMap((date) =>
      (words.times.length === 0 ? ['00:00:00'] : words.times).map((time) => `${date}T${time}Z`),
    ),
    ...words.text.split(/[\s,;!?()]+/).map((word) => word.replace(/[.:]+$/, '')),
  ];
  return [...new Set(parts)]
    .filter((part) => part !== '')
    .map((value) => ({ value, isMeant: true, takes: `text ${value}` }));
}

/** Numbers of a question: those first that stand beside the member's name. */
export function fitNumbers(words: QuestionWords, name: string): Candidate[] {
  const named = nameWords(name).map(stem);
  const candidate = (value: number, at: number, isMeant: boolean): Candidate => ({
    value,
    isMeant,
    takes: `number ${at}`,
  });
  const beside = (near: readonly string[]) => near.some((word) => named.includes(word));
  const all = words.numbers.map(({ near, value }, at) => ({ near, value, at }));
  const near = all.filter(({ near: around }) => beside(around));
  const answers = speaksOf(nameWords(name), [...REPLY, 'sum', 'total', 'value', 'amount'])
    ? [...words.answer.matchAll(/^That is (-?\d+(?:\.\d+)?)\.$/g)]
    : [];
  return [
    ...answers.map(([, value]) => ({ value: Number(value), isMeant: true })),
    ...near.map(({ at, value }) => candidate(value, at, true)),
    ...all.filter((one) => !near.includes(one)).map(({ at, value }) => candidate(value, at, false)),
  ];
}

/** Whether a text, such as one of an enumeration, is said in a question. */
export function isSaid({ plain }: QuestionWords, text: string): boolean {
  const words = nameWords(text).join(' ');
  return words !== '' && (plain.includes(` ${words} `) || plain.includes(` ${words}s `));
}

const NOT = /^(?:not|no|without|dont|never|off|disable|disabled|exclude|skip)$/;

/** Whether a question switches the member on or off. Undefined where it does not mention it. */
export function fitSwitch({ plain }: QuestionWords, name: string): boolean | undefined {
  const said = plain.trim().split(' ');
  const named = nameWords(name).filter((word) => !/^(?:is|has|with|use|include)$/.test(word));
  const stems = new Set(named.map(stem));
  const at = said.findIndex((word) => stems.has(stem(word)));
  return at === -1
    ? undefined
    : !said.slice(Math.max(0, at - 3), at).some((word) => NOT.test(word));
}

/** What stands behind the member's name: `order number: A-17`, `size is large`. */
function labelled({ plain, text }: QuestionWords, named: readonly string[]): string[] {
  if (named.length === 0 || !named.every((word) => plain.includes(word))) return [];
  const label = named.map((word) => word.replace(/[^\p{L}\p{N}]/gu, '')).join('[\\s_-]*');
  const form = new RegExp(
    `\\b${label}\\b\\s*(?:is|are|=|:|to be)\\s*(?:"([^"]{1,200})"|([^,.;!?\\n]{1,80}?)(?=[,.;!?\\n]|\\s(?:and|with|to|for|on|at|in|the)\\s|$))`,
    'giu',
  );
  return [...text.matchAll(form)].map(([, quoted, plain]) => (quoted ?? plain ?? '').trim());
}

const sumsOf = (text: string): string[] =>
  (text.match(/[\d(][\d\s.+\-*/^()%]*[\d)]/g) ?? []).filter((sum) => /[+\-*/^%]/.test(sum));
