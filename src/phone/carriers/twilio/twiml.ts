import { xmlText } from '../../../kernel/storable.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import type { TransferOrder } from '../carrier.ts';
import type { TwilioHooks } from './hooks.ts';

type Attributes = Readonly<Record<string, string | number>>;

/** Returns one XML element. Attributes are escaped here; `content` must be XML already. */
function element(name: string, attributes: Attributes, ...content: readonly string[]): string {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${xmlText(String(value))}"`,
  );
  const head = `<${name}${written.join('')}`;
  return content.length === 0 ? `${head}/>` : `${head}>${content.join('')}</${name}>`;
}

const response = (...verbs: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>${element('Response', {}, ...verbs)}`;

const again = (hooks: TwilioHooks, callId: string): string =>
  element('Redirect', { method: 'POST' }, xmlText(hooks.voiceAgain(callId)));

/** Empty response: ends Twilio's current instruction. A call that waits for instructions ends. */
export const NOTHING = response();

/** Opens the media stream. When the stream closes during the call, Twilio requests a new instruction. */
export const streamTwiml = (hooks: TwilioHooks, callId: string): string =>
  response(
    element(
      'Connect',
      {},
      element(
        'Stream',
        { url: hooks.media },
        element('Parameter', { name: 'call', value: callId }),
      ),
    ),
    again(hooks, callId),
  );

/** Ends the call. */
export const HANG_UP = response(element('Hangup', {}));

/** Refuses a call that was not answered yet. */
export const rejectTwiml = (reason: 'busy' | 'rejected'): string =>
  response(element('Reject', { reason }));

/** Plays keypad digits, and then makes Twilio request a new instruction. */
export const digitsTwiml = (hooks: TwilioHooks, callId: string, digits: string): string =>
  response(element('Play', { digits }), again(hooks, callId));

/**
 * Connects the call to a number. Twilio reports when the target answers, and asks for instructions when the transfer is
 * over. `whispers`: Twilio fetches the summary from the `whisper` hook and reads it to the target first.
 */
export const transferTwiml = (
  hooks: TwilioHooks,
  callId: string,
  { longestSeconds, to, whispers }: TransferOrder,
): string =>
  response(
    element(
      'Dial',
      {
        action: hooks.voiceAgain(callId),
        method: 'POST',
        timeout: PHONE_LIMITS.call.ringSeconds,
        timeLimit: longestSeconds,
      },
      element(
        'Number',
        {
          ...(whispers && { url: hooks.whisper(callId), method: 'POST' }),
          statusCallback: hooks.transfer(callId),
          statusCallbackEvent: 'answered',
          statusCallbackMethod: 'POST',
        },
        xmlText(to),
      ),
    ),
  );

/** Returns the TwiML that says the summary of a call to the other person of a transfer, before they are connected. */
export const whisperTwiml = (summary: string | null): string =>
  summary === null ? response() : response(element('Say', {}, xmlText(summary)));
