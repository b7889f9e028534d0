/** Returns the lines of a file's comments that a newcomer has to solve; docs/glossary.md has the rules. */
export function riddlesOf(text: string): string[] {
  const opening = /^(What|Who|Whose|Whether|How|Of|Until|Such|That|Where) /;
  const riddle =
    /\b(nobody|whoever|somebody|made out|purse|(is|was) told|so (many|much|long)|what of)\b/i;
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line, at) => {
    const comment = /^(\/\/|\/\*\*?|\*)\s*(.*)/.exec(line);
    if (comment === null) return false;
    const isFirst = comment[1] === '*' ? lines[at - 1] === '/**' : !lines[at - 1]?.startsWith('//');
    const said = comment[2] ?? '';
    return (isFirst && opening.test(said)) || riddle.test(said);
  });
}

const TITLE = /(?:\b(?:it|test)|\]\))(?:<[^(]*>)?\(\s*(['"`])(.+?)\1,/g;

/** First words of a name whose subject stands elsewhere. */
const VERB =
  /^(is|are|was|were|has|have|does|do|can|may|takes?|refuses?|says?|counts?|tells?|gives?|keeps?|ends?|begins?|answers?|asks?|finds?|reads?|writes?|sends?|makes?|lets?|leaves?|holds?|costs?|needs?|knows?|stays?|waits?|goes|comes?|puts?|bears?|passes|never|not|and|while|that|whose|where|it|its|they|them|their|those|these|what|how) /i;

/** Returns the names of a test file's tests that have no subject of their own. */
export const namesWithoutSubject = (text: string): string[] =>
  [...text.matchAll(TITLE)].map(([, , name = '']) => name).filter((name) => VERB.test(name));
