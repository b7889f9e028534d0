import { stem, wordsOf } from '../text/words.ts';

/** The parts of a tool that describe its purpose. */
type Described = { readonly name: string; readonly description: string };

const stems = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/).map(stem));

/** Words that name no subject, neither in a question nor in a tool. */
export const PLAIN_WORDS: ReadonlySet<string> = stems(
  `a an and any are as at be by can could do does for from get give has have how i in is it its let
  look make me my of on or please return returns run set show tell that the their then there this to
  tool up use used using was what when where which who will with would you your call function fetch
  find about current given`,
);

/**
 * Words for the actions of coding agents' tools. A name made only of these words names no subject, because any question may
 * contain them.
 */
const DEEDS = stems(
  `add agent apply ask batch change command copy create cut delete edit enter exec execute exit file grep glob
  input insert kill list mode move multi new notebook open output plan question read remove replace request search
  send shell skill spawn stop task terminal todo update user view wait web write`,
);

/** Words for the objects of the actions in `DEEDS`. */
const THINGS = stems(
  `agent cell command commit diff directory file folder list notebook page patch path pattern plan repository
  shell subagent terminal url website`,
);

const BRIEF_CHARS = 300;
const FILE_NAME = /(?:^|[\s"'`/(])[\w-]+\.[a-z]\w{0,4}\b/i;

const subjects = (text: string) =>
  new Set(
    wordsOf(text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' '))
      .map(stem)
      .filter((word) => !PLAIN_WORDS.has(word)),
  );

/**
 * Returns the only tool that a question clearly means: the question names the tool, or mentions every subject in its name, or
 * one of those subjects and two subjects of its description's first sentence. A name made only of actions, such as `Write`,
 * also needs a thing from that sentence. Returns undefined when two tools match equally well. With `mustCall`, returns the tool
 * whose subjects are mentioned most, or the first of several such tools.
 */
export function chooseTool<T extends Described>(
  question: string,
  tools: readonly T[],
  mustCall = false,
): T | undefined {
  const asked = subjects(question);
  if (FILE_NAME.test(question)) asked.add(stem('file'));
  const scored = tools.map((tool) => ({ tool, ...scoreTool(question, asked, tool) }));
  const [first, second] = scored.toSorted((a, b) => b.clearly - a.clearly);
  if (first !== undefined && first.clearly > (second?.clearly ?? 0)) return first.tool;
  return mustCall ? scored.toSorted((a, b) => b.spokenOf - a.spokenOf)[0]?.tool : undefined;
}

function scoreTool(question: string, asked: ReadonlySet<string>, { name, description }: Described) {
  const named = subjects(name);
  const brief = subjects(firstSentence(description));
  const inName = [...named].filter((word) => asked.has(word)).length;
  const spokenOf = [...subjects(`${name} ${description}`)].filter((word) => asked.has(word)).length;
  const described = [...brief].filter((word) => asked.has(word) && !named.has(word));
  const hasSubject = [...named].some((word) => asked.has(word) && !DEEDS.has(word));
  const isWhole = named.size > 0 && inName === named.size;
  const isClear = hasSubject
    ? isWhole || described.length >= 2
    : isWhole && described.some((word) => THINGS.has(word));
  const clearly = isClear ? inName + described.length : 0;
  return { spokenOf, clearly: isNamed(question, name) ? clearly + NAMED : clearly };
}

/** Score of a tool that the question names, above every count of words. */
const NAMED = 1_000_000;

const firstSentence = (text: string): string =>
  /^\s*(?:[^.\n]|\.(?=\S))*/.exec(text.slice(0, BRIEF_CHARS))?.[0] ?? '';

/**
 * Returns true when a question contains a tool's name: `apply_patch` as it is written, `Write` only as "the Write tool" or "use
 * Write".
 */
function isNamed(question: string, name: string): boolean {
  const isJoined = /[_-]|[a-z][A-Z]/.test(name);
  for (let at = question.indexOf(name); at !== -1; at = question.indexOf(name, at + 1)) {
    const before = question.slice(Math.max(0, at - 16), at);
    const after = question.slice(at + name.length, at + name.length + 16);
    if (/\w$/.test(before) || /^\w/.test(after)) continue;
    if (isJoined || /^[`"']?\s+(?:tool|function)\b/i.test(after)) return true;
    if (/\b(?:call|use|using|invoke)\s+(?:the\s+)?[`"']?$/i.test(before) && !/^\s+\w/.test(after)) {
      return true;
    }
  }
  return false;
}
