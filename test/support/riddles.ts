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
