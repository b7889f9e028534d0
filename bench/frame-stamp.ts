import { hrtime } from 'node:process';

const PREFIX = '{"event_id":"';
const DIGITS = 16;
const END = PREFIX.length + DIGITS;
const ZERO = '0'.charCodeAt(0);

/** The microseconds of the machine's own clock, which all of its processes share. */
function nowMicros(): number {
  const [seconds, nanos] = hrtime();
  return seconds * 1_000_000 + Math.floor(nanos / 1_000);
}

/** An event whose id is the time at which it is made, for what is `rest` of it, quote and comma first. */
export const stamped = (rest: string): Buffer =>
  Buffer.from(`${PREFIX}${String(nowMicros()).padStart(DIGITS, '0')}${rest}`, 'latin1');

/** How many microseconds ago an event was stamped; undefined when it was not. */
export function agedMicros(event: Uint8Array): number | undefined {
  if (event.length < END) return undefined;
  let stamp = 0;
  for (let at = PREFIX.length; at < END; at++) {
    const digit = (event[at] as number) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    stamp = stamp * 10 + digit;
  }
  return nowMicros() - stamp;
}
