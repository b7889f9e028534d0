const BOLD = '\u001b[1m';
const DIM = '\u001b[2m';
const PLAIN = '\u001b[0m';

/** Colours a text when standard output is a terminal. */
const paint = (style: string, text: string) =>
  process.stdout.isTTY === true ? `${style}${text}${PLAIN}` : text;

export const heading = (text: string) => console.log(`\n${paint(BOLD, text)}`);
export const line = (text: string) => console.log(`  ${text}`);
export const aside = (text: string) => console.log(`  ${paint(DIM, text)}`);
