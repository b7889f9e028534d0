import { hrtime } from 'node:process';

const PREFIX = '{"event_id":"';
const DIGITS = 16;
const END = PREFIX.length + DIGITS;

/** The microseconds of the machine's own clock, which all of its processes share. */
const nowMicros = (): string => String(hrtime.bigint() / 1_000n).padStart(DIGITS, '0');

/** An event whose id is the time at which it is made, for what is `rest` of it, quote and comma first. */
export const stamped = (rest: string): Buffer =>
  Buffer.from(`${PREFIX}${nowMicros()}${rest}`, 'latin1');

/** How many microseconds ago an event was stamped; undefined when it was not. */
export const agedMicros = (event: string): number | undefined =>
  event.startsWith(PREFIX)
    ? Number(hrtime.bigint() / 1_000n) - Number(event.slice(PREFIX.length, END))
    : undefined;
