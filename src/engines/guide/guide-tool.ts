import { stem, wordsOf } from './guide-words.ts';

/** The parts of a tool that describe its purpose. */
type Described = { readonly name: string; readonly description: string };

/** Words that name no subject, whether in a question or in a tool. */
export const PLAIN_WORDS: ReadonlySet<string> = new Set(
  `a an and any are as at be by can could do does for from get give has have how i in is it its let
  look make me my of on or please return returns run set show tell that the their then there this to
  tool up use used using was what when where which who will with would you your call function fetch
  find about current given`
    .split(/\s+/)
    .map(stem),
);

const subjects = (text: string) =>
  new Set(
    wordsOf(text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' '))
      .map(stem)
      .filter((word) => !PLAIN_WORDS.has(word)),
  );

/**
 * The one tool that a question clearly means: every subject in the tool's name is spoken of, or
 * one of them and two of its description. Two equally good tools are none. Where one must be called, it is otherwise
 * the one that the question speaks of most, the first of several.
 */
export function chooseTool<T extends Described>(
  question: string,
  tools: readonly T[],
  mustCall = false,
): T | undefined {
  const asked = subjects(question);
  const scored = tools.map((tool) => ({ tool, ...scoreTool(asked, tool) }));
  const [first, second] = scored.toSorted((a, b) => b.clearly - a.clearly);
  if (first !== undefined && first.clearly > (second?.clearly ?? 0)) return first.tool;
  return mustCall ? scored.toSorted((a, b) => b.spokenOf - a.spokenOf)[0]?.tool : undefined;
}

function scoreTool(asked: ReadonlySet<string>, { name, description }: Described) {
  const named = subjects(name);
  const inName = [...named].filter((word) => asked.has(word)).length;
  const spokenOf = [...subjects(`${name} ${description}`)].filter((word) => asked.has(word)).length;
  const described = spokenOf - inName;
  const isClear = inName > 0 && (inName === named.size || described >= 2);
  return { spokenOf, clearly: isClear ? inName + spokenOf : 0 };
}
