import { exhaustive } from '../exhaustive.ts';
import type { StreamScript } from '../stream-upstream.ts';
import type { Goods } from './reckoning.ts';

/** One way in which upstreams fail, as the answers that show it. */
export type Mode = {
  readonly name: string;
  readonly scripts: readonly StreamScript[];
  /** The client leaves while the upstream writes, so that it is open what will have come. */
  readonly isLeft?: boolean;
};

const WORDS = ['Good ', 'morning', ' to', ' you', '.'];
/** Two, three and four bytes a character, and escapes. */
const WIDE = ['Grüße ', '世界 ', '🎉', '\\"quoted"\n', ' "usage":{"prompt_tokens":1} '];
const MEGABYTE = 'x'.repeat(1_000_000);
const TINY_CHUNKS = exhaustive ? 10_000 : 2_000;
const DIGITS = Array.from({ length: TINY_CHUNKS }, (_, i) => String(i % 10));

const range = <T>(count: number, of: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => of(i));

const inPieces = (whole: Buffer, bytes: number): Buffer[] =>
  range(Math.ceil(whole.length / bytes), (i) => whole.subarray(i * bytes, (i + 1) * bytes));

/** Inside each character of several bytes, behind each backslash, and at some places between; or at every place. */
const halvingsOf = (wide: Buffer): number[] =>
  range(wide.length - 1, (i) => i + 1).filter(
    (at) =>
      exhaustive || ((wide[at] ?? 0) & 0xc0) === 0x80 || wide[at - 1] === 0x5c || at % 16 === 0,
  );

/** Everything that an upstream has been seen to do with a count. `NaN` is no JSON: it stands in the text itself. */
const COUNTS = [
  0,
  1,
  1_000_000,
  10_000_000,
  10_000_001,
  Number.MAX_SAFE_INTEGER,
  1e308,
  -1,
  -0.5,
  1.5,
  '400',
  'many',
  '@NaN',
  null,
  true,
  [],
  {},
];

const whole = (parts: readonly string[]): Buffer =>
  Buffer.from(parts.join('').replaceAll('"@NaN"', 'NaN'));

/** At most `rows` scripts of a mode, spread over all of them; all of them where every row of a battery is played. */
const sampled = (mode: Mode, rows: number): Mode => {
  const step = exhaustive ? 1 : Math.ceil(mode.scripts.length / rows);
  return { ...mode, scripts: mode.scripts.filter((_, at) => at % step === 0) };
};

/**
 * All modes for one kind of goods. An answer breaks behind each of its chunks, and behind every so many bytes. `npm test`
 * plays up to `rows` scripts of a mode.
 */
export const modesOf = (goods: Goods, breakBytes: number, rows = 24): Mode[] =>
  everyMode(goods, breakBytes).map((mode) => sampled(mode, rows));

function everyMode(goods: Goods, breakBytes: number): Mode[] {
  const { contentType, used } = goods;
  const script = (pieces: StreamScript['pieces'], more: Partial<StreamScript> = {}) => ({
    pieces,
    headers: { 'content-type': contentType },
    ...more,
  });
  const told = (words: readonly string[], usage: unknown = goods.usageOf(used)) =>
    whole(goods.answer(words, usage));
  const plain = goods.answer(WORDS, goods.usageOf(used));
  const small = inPieces(whole(plain), breakBytes);
  const wide = told(WIDE);
  const ending = (ends: 'cut' | 'hang', pieces: readonly (string | Buffer)[]) =>
    range(pieces.length, (i) => script(pieces.slice(0, i), { ends }));
  const lies = [...COUNTS.map((count) => goods.usageOf(count)), 7, 'x', [], {}, null];

  const inChunks = plain.length > 1 ? plain : small;
  const modes: Mode[] = [
    { name: 'as it should', scripts: range(4, () => script(plain)) },
    { name: 'breaks before every chunk', scripts: ending('cut', inChunks) },
    { name: `breaks at every ${breakBytes} bytes`, scripts: ending('cut', small) },
    { name: 'stalls before every chunk', scripts: ending('hang', inChunks) },
    { name: 'lies about usage', scripts: lies.map((usage) => script([told(WORDS, usage)])) },
    { name: 'omits usage', scripts: [script([whole(goods.answer(WORDS, undefined))])] },
    {
      name: 'chunks of a megabyte',
      scripts: [
        script([told([MEGABYTE])]),
        script(inPieces(told([MEGABYTE, MEGABYTE]), 1_000_000)),
      ],
    },
    {
      name: 'thousands of tiny chunks',
      scripts: [
        script(goods.answer(DIGITS, goods.usageOf(used))),
        script(inPieces(told([DIGITS.join('')]), 1)),
      ],
    },
    {
      name: 'half characters',
      scripts: halvingsOf(wide).map((at) => script([wide.subarray(0, at), wide.subarray(at)])),
    },
    { name: 'the client leaves', isLeft: true, scripts: ending('hang', inChunks).slice(1) },
  ];
  return isEvents(goods) ? [...modes, ...eventModes(plain, script, ending)] : modes;
}

const isEvents = ({ contentType }: Goods) => contentType.startsWith('text/event-stream');

/** Lines that only streams of events have. */
function eventModes(
  plain: readonly string[],
  script: (pieces: StreamScript['pieces']) => StreamScript,
  ending: (ends: 'cut', pieces: readonly string[]) => StreamScript[],
): Mode[] {
  const crlf = plain.map((event) => event.replaceAll('\n', '\r\n'));
  const comments = plain.flatMap((event) => [': ping\n\n', `: of it\nid: 7\n${event}`]);
  const odd = [': ping\n\n', 'event: x\r\nid: 7\r\n\r\n', '\n', 'data: not json\n\n'];
  const cut = [1, 2, 3, 7].map((bytes) => script(inPieces(whole(crlf), bytes)));
  return [
    { name: 'CRLF', scripts: [script(crlf), ...cut, ...ending('cut', crlf)] },
    {
      name: 'comment lines',
      scripts: [script(comments), script([...odd, ...plain]), ...ending('cut', comments)],
    },
  ];
}
