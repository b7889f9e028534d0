/** Pictures, flags, and what changes the picture before it. `#`, `*` and digits are none by themselves. */
const EMOJI =
  /(?:\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Emoji_Modifier}|\p{Variation_Selector}|\u200d|\u20e3|[\u{e0020}-\u{e007f}])+/gu;

/** A fence of code with its language, a rule, or the line below the head of a table. */
const SILENT_LINE =
  /^[ \t]*(?:(?:```|~~~)[\w+#.-]*|(?:[-*_][ \t]*){3,}|\|?[ \t:|-]*-{2,}[ \t:|-]*)[ \t]*$/gm;
const LINE_MARK = /^[ \t]*(?:#{1,6}[ \t]+|(?:>[ \t]?)+|[-*+•‣◦▪][ \t]+(?:\[[ xX]\][ \t]+)?)/;
/** Lines that are read as sentences though they have no mark at their end. */
const HEADED_LINE = /^[ \t]*(?:#{1,6}[ \t]|[-*+•‣◦▪][ \t]|\||\d{1,3}[.)][ \t])/;
const HAS_END = /[.!?…:;,؟।。！？：；、]["'”’)\]*_~`」』]*\s*$/u;

const IMAGE = /!\[([^\][\n]{0,300})\]\([^)\s]{0,2000}(?:\s"[^"\n]{0,200}")?\)/g;
const LINK = /\[([^\][\n]{1,300})\]\([^)\s]{0,2000}(?:\s"[^"\n]{0,200}")?\)/g;
/** A link that was cut in two: its end here, its begin in the part before. */
const LINK_END = /\]\([^)\s]{0,2000}\)/g;
const REFERENCE = /\[(?:\^?\d{1,3}|\^[\w-]{1,40})\]|【[^】\n]{0,80}】/g;
const ADDRESS = /<?\bhttps?:\/\/(?:www\.)?([^\s<>/?#()]{1,253})([^\s<>()]{0,2000})>?/gi;
/** A path that can be said: words between its slashes. */
const SAYABLE_PATH = /^(?:\/[a-z]{2,20}(?:-[a-z]{2,20}){0,3}){1,2}\/?$/i;
const TAG = /<\/?[a-z][a-z0-9]{0,15}(?:\s[^<>\n]{0,200})?\/?>/gi;
const ENTITY = /&(amp|lt|gt|quot|apos|nbsp|#39);/g;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  '#39': "'",
};

/** A single star between two numbers multiplies them. */
const STARS = /(?<=\d\s?)\*\*+|\*+(?!\s?\d)|(?<!\d\s?)\*+/g;
const UNDERSCORES = /(?<![\p{L}\p{N}])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}])/gu;
const OTHER_MARKS = /`+|~~|\\(?=[*_`#[\]()~>|-])/g;

/** Matches texts that may have any of the marks above. Most sentences do not match and are returned as they are. */
const MAY_HAVE_MARKS =
  /[*_`~#[\]|<>&\\【•‣◦▪/]|^[ \t]*[-+][ \t]|^[ \t]*\d{1,3}[.)][ \t]|[^ -~\n\t]/m;

/**
 * Returns the words of a Markdown text: without emphasis, headings, code marks, link targets, emoji and table frames, in any
 * language. Expects a whole sentence or line; incomplete links and emphasis lose their marks, too.
 */
export function stripMarkup(text: string): string {
  if (!MAY_HAVE_MARKS.test(text)) return text;
  const lines = text
    .replace(SILENT_LINE, '')
    .split('\n')
    .map((line) => sentenceOf(line))
    .filter((line) => line !== '');
  return lines.join('\n');
}

function sentenceOf(line: string): string {
  const words = wordsOf(line);
  if (words === '' || !HEADED_LINE.test(line) || HAS_END.test(words)) return words;
  return `${words}.`;
}

function wordsOf(line: string): string {
  return cellsOf(line.replace(LINE_MARK, ''))
    .replace(IMAGE, '$1')
    .replace(LINK, '$1')
    .replace(LINK_END, '')
    .replace(REFERENCE, '')
    .replace(ADDRESS, (_, host: string, rest: string) => sayableAddress(host, rest))
    .replace(TAG, ' ')
    .replace(ENTITY, (_, name: string) => ENTITIES[name] ?? ' ')
    .replace(STARS, '')
    .replace(UNDERSCORES, '')
    .replace(OTHER_MARKS, '')
    .replace(/\[(?=[^\]\n]*$)/, '')
    .replace(EMOJI, ' ')
    .replace(/[ \t\u00a0]+/g, ' ')
    .replace(/ (?=[.,!?;:](?:\s|$))/g, '')
    .trim();
}

/** Returns the row of a table as a list of its cells. A bar within a sentence stays. */
function cellsOf(line: string): string {
  if (!/^[ \t]*\||\|[ \t]*$|\s\|\s/.test(line)) return line;
  return line
    .split('|')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .join(', ');
}

/** Returns an address as people say it: the host, and a path of one or two words. */
function sayableAddress(host: string, rest: string): string {
  const [, path = '', end = ''] = /^(.*?)([.,!?;:'"]*)$/s.exec(rest) ?? [];
  return `${host}${SAYABLE_PATH.test(path) ? path.replace(/\/$/, '') : ''}${end}`;
}
