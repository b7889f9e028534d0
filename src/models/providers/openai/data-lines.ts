const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const DATA = Buffer.from('data:');
const NAME = Buffer.from('event:');
/** Empty comment that keeps the client's connection alive, as the upstream's comment did, without its text. */
const KEEP_ALIVE = Buffer.from(':\n\n');

/**
 * Reduces a server-sent event to its data, on one line. Drops comments, which could state a price that only this server may
 * state, and names and ids: the relayed dialects have everything in the data. Lines of data are joined with a space, which in
 * JSON means the same as a line feed. An event of comments alone becomes an empty comment. Undefined for an event without data
 * and comments. An event with one data line passes without a copy, as nearly all do.
 */
export function dataLines(event: Buffer): Buffer | undefined {
  if (isOneDataLine(event)) return event;
  const unnamed = behindName(event);
  if (unnamed !== undefined && isOneDataLine(unnamed)) return unnamed;
  return joinedLines(event);
}

/** Returns the content of an event's data lines; a view without a copy for one line. Undefined: no data lines. */
export function dataOf(event: Buffer): Buffer | undefined {
  const line = dataLines(event);
  return line === undefined || line[0] === COLON ? undefined : line.subarray(DATA.length);
}

/** Returns true when `bytes` begin with `head`. */
export const beginsWith = (bytes: Buffer, head: Buffer): boolean =>
  bytes.length >= head.length && bytes.compare(head, 0, head.length, 0, head.length) === 0;

const isDataAt = (event: Buffer, at: number): boolean =>
  DATA.every((byte, place) => event[at + place] === byte);

/**
 * Joins the data lines of an event. Reads each byte once and allocates nothing per line, because an event may have hundreds of
 * thousands of lines.
 */
function joinedLines(event: Buffer): Buffer | undefined {
  const joined = Buffer.allocUnsafe(event.length + 2);
  let length = 0;
  let isStart = true;
  let isData = false;
  let hasComment = false;
  for (let at = 0; at < event.length; at++) {
    const byte = event[at] as number;
    // A carriage return ends a line as well.
    if (byte === LF || byte === CR) {
      isStart = true;
      continue;
    }
    if (isStart) {
      isStart = false;
      isData = isDataAt(event, at);
      hasComment ||= byte === COLON;
      if (isData && length > 0) {
        joined[length++] = SPACE;
        at += DATA.length - 1;
        continue;
      }
    }
    if (isData) joined[length++] = byte;
  }
  if (length === 0) return hasComment ? KEEP_ALIVE : undefined;
  joined[length] = LF;
  joined[length + 1] = LF;
  return joined.subarray(0, length + 2);
}

/**
 * Returns the lines of an event after its name. Undefined when the first line is no name or a line ends with a carriage
 * return.
 */
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
