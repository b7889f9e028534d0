const LF = 0x0a;
const CR = 0x0d;
const DATA = Buffer.from('data:');
const NAME = Buffer.from('event:');
/** A comment without words: it keeps the connection alive, as the upstream wants to, and claims nothing. */
const KEEP_ALIVE = Buffer.from(':\n\n');

/**
 * Reduces a server-sent event of an upstream to its data. Comments, event names and ids are dropped: a comment could
 * state a price, which only this server does, and the dialects that are relayed put everything else into the data. An
 * event of comments alone becomes an empty comment; one without either is dropped (undefined). An event that is one data
 * line, behind its name or without one, passes without a copy: nearly all are.
 */
export function dataLines(event: Buffer): Buffer | undefined {
  if (isOneDataLine(event)) return event;
  const unnamed = behindName(event);
  if (unnamed !== undefined && isOneDataLine(unnamed)) return unnamed;
  // Readers end a line at a carriage return, too.
  const lines = event.toString('utf8').split(/\r\n|\n|\r/);
  const data = lines.filter((line) => line.startsWith('data:'));
  if (data.length > 0) return Buffer.from(`${data.join('\n')}\n\n`);
  return lines.some((line) => line.startsWith(':')) ? KEEP_ALIVE : undefined;
}

/** What the only data line of an event says, without a copy. Undefined: the event has other lines, or several. */
export const soleData = (event: Buffer): Buffer | undefined =>
  isOneDataLine(event) ? event.subarray(DATA.length) : undefined;

/** Whether bytes begin with others. */
export const beginsWith = (bytes: Buffer, head: Buffer): boolean =>
  bytes.length >= head.length && bytes.compare(head, 0, head.length, 0, head.length) === 0;

/** The lines of an event behind its name, where that is its first line and no line ends with a carriage return. */
function behindName(event: Buffer): Buffer | undefined {
  if (!beginsWith(event, NAME) || event.includes(CR)) return undefined;
  return event.subarray(event.indexOf(LF) + 1);
}

function isOneDataLine(event: Buffer): boolean {
  if (!beginsWith(event, DATA)) return false;
  const end = event.indexOf(LF);
  const isBlankBehind =
    end === event.length - 2 || (end === event.length - 3 && event[end + 1] === CR);
  if (!isBlankBehind) return false;
  const returnAt = event.indexOf(CR);
  return returnAt === -1 || returnAt === end - 1 || returnAt === end + 1;
}
