import { topMember } from '../../../purchase/top-member.ts';

const KEY = Buffer.from('usage');
const USAGE = Buffer.from('"usage"');
const NULL = Buffer.from('null');
const CLOSE = 0x7d;
const COMMA = 0x2c;
const LF = 0x0a;

/**
 * Removes the member `usage` from an event of a chat stream when it is null. Upstreams write the member into every event when
 * usage is requested, and OpenAI sends it to no client that did not request usage. Other bytes stay unchanged.
 */
export function withoutNullUsage(event: Buffer): Buffer {
  const key = event.lastIndexOf(USAGE);
  if (key === -1) return event;
  const value = lastMember(event, key) ?? topMember(event, KEY);
  if (value === undefined) return event;
  const [start, end] = value;
  if (event.compare(NULL, 0, NULL.length, start, end) !== 0) return event;
  const from = event.lastIndexOf(USAGE, start);
  const before = lastSign(event, from);
  if (event[before] === COMMA) return joined(event, before, end);
  const behind = firstSign(event, end);
  return joined(event, from, event[behind] === COMMA ? behind + 1 : end);
}

/**
 * Returns start and end of the value when it is the last member: in `"usage":null}` with a line's end behind, the brace can
 * only be the object's own. Most upstreams write it last.
 */
function lastMember(event: Buffer, key: number): readonly [number, number] | undefined {
  const start = key + USAGE.length + 1;
  const end = start + NULL.length;
  const isLast = event[end] === CLOSE && event[end + 1] === LF;
  return isLast && event.compare(NULL, 0, NULL.length, start, end) === 0 ? [start, end] : undefined;
}

const joined = (event: Buffer, from: number, to: number): Buffer =>
  Buffer.concat([event.subarray(0, from), event.subarray(to)]);

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/** Returns the index of the last byte before `at` that is no white space. */
function lastSign(event: Buffer, at: number): number {
  let place = at - 1;
  while (place >= 0 && isBlank(event[place])) place--;
  return place;
}

function firstSign(event: Buffer, at: number): number {
  let place = at;
  while (isBlank(event[place])) place++;
  return place;
}
