const LF = 0x0a;
const CR = 0x0d;
const DATA = Buffer.from('data:');
/** A comment without words: it keeps the connection alive, as the upstream wants to, and claims nothing. */
const KEEP_ALIVE = Buffer.from(':\n\n');

/**
 * Reduces a server-sent event of an upstream to its data. Comments, event names and ids are dropped: a comment could
 * state a price, which only this server does, and the dialects that are relayed put everything else into the data. An
 * event of comments alone becomes an empty comment; one without either is dropped (undefined). An event that is one data
 * line, as nearly all are, passes without a copy.
 */
export function dataLines(event: Buffer): Buffer | undefined {
  if (isOneDataLine(event)) return event;
  // Readers end a line at a carriage return, too.
  const lines = event.toString('utf8').split(/\r\n|\n|\r/);
  const data = lines.filter((line) => line.startsWith('data:'));
  if (data.length > 0) return Buffer.from(`${data.join('\n')}\n\n`);
  return lines.some((line) => line.startsWith(':')) ? KEEP_ALIVE : undefined;
}

function isOneDataLine(event: Buffer): boolean {
  if (!event.subarray(0, DATA.length).equals(DATA)) return false;
  const end = event.indexOf(LF);
  const isBlankBehind =
    end === event.length - 2 || (end === event.length - 3 && event[end + 1] === CR);
  const returnAt = event.indexOf(CR);
  return isBlankBehind && (returnAt === -1 || returnAt === end - 1 || returnAt === end + 1);
}
