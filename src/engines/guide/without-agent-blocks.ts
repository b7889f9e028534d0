/** Characters from the end in which blocks are searched. */
const CHARS_READ = 65_536;
const TAG = /<(\/?)([a-z]+[-_][a-z_-]+)>/g;

/**
 * Returns a text without the blocks that coding agents put beside a question, such as `<system-reminder>` and
 * `<environment_context>`. Of a long text only the end is read.
 */
export function withoutAgentBlocks(text: string): string {
  const read = text.slice(-CHARS_READ);
  let kept = '';
  let from = 0;
  let open: string | undefined;
  for (const { 0: tag, 1: slash, 2: name, index } of read.matchAll(TAG)) {
    const isOpening = slash === '';
    if (open === undefined) {
      // The block that ends here began before the part of the text that is read.
      if (isOpening) kept += read.slice(from, index);
      else kept = '';
      from = isOpening ? index : index + tag.length;
      open = isOpening ? name : undefined;
    } else if (!isOpening && name === open) {
      from = index + tag.length;
      open = undefined;
    }
  }
  return kept + read.slice(from);
}
