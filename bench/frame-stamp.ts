import { hrtime } from 'node:process';

const DIGITS = 16;
const ZERO = '0'.charCodeAt(0);

/** The microseconds of the machine's own clock, which all of its processes share. */
export function nowMicros(): number {
  const [seconds, nanos] = hrtime();
  return seconds * 1_000_000 + Math.floor(nanos / 1_000);
}

function isBehind(message: Uint8Array, prefix: string): boolean {
  for (let at = 0; at < prefix.length; at++) {
    if (message[at] !== prefix.charCodeAt(at)) return false;
  }
  return true;
}

/** Messages whose first number is the time at which they are made, behind the same `prefix` in all of them. */
function stampBehind(prefix: string) {
  const end = prefix.length + DIGITS;
  return {
    /** `rest` is what follows the number, its quote first. */
    stamped: (rest: string): Buffer =>
      Buffer.from(`${prefix}${String(nowMicros()).padStart(DIGITS, '0')}${rest}`, 'latin1'),
    /** How many microseconds ago a message was stamped; undefined when it was not. */
    agedMicros(message: Uint8Array): number | undefined {
      if (message.length < end || !isBehind(message, prefix)) return undefined;
      let stamp = 0;
      for (let at = prefix.length; at < end; at++) {
        const digit = (message[at] as number) - ZERO;
        if (digit < 0 || digit > 9) return undefined;
        stamp = stamp * 10 + digit;
      }
      return nowMicros() - stamp;
    },
  };
}

/** By the id of an OpenAI realtime event. */
export const realtimeStamp = stampBehind('{"event_id":"');
/** By the sequence number of a Twilio message. */
export const twilioStamp = stampBehind('{"event":"media","sequenceNumber":"');
