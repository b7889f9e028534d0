import { stem, wordsOf } from './guide-words.ts';

/** As much of a tool as tells what it is for. */
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
 * one of them and two of its description. Two equally good tools are none.
 */
export function chooseTool<T extends Described>(
  question: string,
  tools: readonly T[],
): T | undefined {
  const asked = subjects(question);
  const scored = tools
    .map((tool) => ({ tool, score: scoreTool(asked, tool) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  return scored[0]?.score === scored[1]?.score ? undefined : scored[0]?.tool;
}

/** The tool that a question speaks of most, of some of which one must be called; the first of several. */
export function nearestTool<T extends Described>(
  question: string,
  tools: readonly T[],
): T | undefined {
  const asked = subjects(question);
  const nearness = ({ description, name }: Described) =>
    [...subjects(`${name} ${description}`)].filter((word) => asked.has(word)).length;
  let nearest: { readonly tool: T; readonly score: number } | undefined;
  for (const tool of tools) {
    const score = nearness(tool);
    if (nearest === undefined || score > nearest.score) nearest = { tool, score };
  }
  return chooseTool(question, tools) ?? nearest?.tool;
}

function scoreTool(asked: ReadonlySet<string>, { name, description }: Described): number {
  const named = subjects(name);
  const inName = [...named].filter((word) => asked.has(word)).length;
  const described = [...subjects(description)].filter(
    (word) => asked.has(word) && !named.has(word),
  ).length;
  const clear = inName > 0 && (inName === named.size || described >= 2);
  return clear ? inName * 2 + described : 0;
}
