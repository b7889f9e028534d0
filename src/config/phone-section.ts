import { z } from 'zod';
import { CONFIG_LIMITS } from './limits.ts';
import { optional, text, unlessEmpty } from './variable-kinds.ts';

const CALLS = CONFIG_LIMITS.phone.concurrentCalls;

/** Environment variables of the phone service and its carriers. */
export const PHONE_SECTION = {
  PHONE_CARRIER: optional(z.enum(['twilio', 'telnyx', 'loopback', 'none'])).meta({
    description: 'Who connects calls. `loopback` is a callee inside this process, for development.',
    unset: 'the carrier whose credentials are set; without any, `loopback` in development',
  }),
  TWILIO_ACCOUNT_SID: optional(
    z.string().regex(/^AC[0-9a-fA-F]{32}$/, 'must be AC and 32 hex digits'),
  ).meta({
    description: 'The account at Twilio.',
    takes: '`AC` and 32 hex digits',
    unset: 'Twilio is off',
  }),
  TWILIO_AUTH_TOKEN: text().meta({
    description: 'Authenticates this server at Twilio, and the callbacks of Twilio at this server.',
    unset: 'Twilio is off',
  }),
  TWILIO_BASE_URL: unlessEmpty(z.url().default('https://api.twilio.com')).describe(
    'Where the API of Twilio is.',
  ),
  TELNYX_API_KEY: text().meta({
    description: 'Authenticates this server at Telnyx.',
    unset: 'Telnyx is off',
  }),
  TELNYX_PUBLIC_KEY: text().meta({
    description: 'Authenticates the callbacks of Telnyx.',
    takes: 'an Ed25519 key in base64',
    unset: 'Telnyx is off',
  }),
  TELNYX_CONNECTION_ID: text().meta({
    description: 'The call control application at Telnyx.',
    unset: 'Telnyx is off',
  }),
  TELNYX_BASE_URL: unlessEmpty(z.url().default('https://api.telnyx.com')).describe(
    'Where the API of Telnyx is.',
  ),
  PHONE_COUNTRIES: unlessEmpty(
    z
      .string()
      .regex(/^[A-Z]{2}(,[A-Z]{2})*$/, 'must be country codes, comma separated')
      .default('US,CA'),
  ).meta({
    description: 'The countries that may be called.',
    takes: 'two-letter codes, comma separated',
  }),
  PHONE_DIALS_PER_SECOND: optional(z.coerce.number().min(0.01).max(1_000)).meta({
    description:
      'Calls that this process places at the carrier in a second. Processes share the limit of the account: each gets its part.',
    takes: 'calls, 0.01 to 1000',
    unset:
      'what the carrier allows by default: 1 at Twilio, 30 at Telnyx, any number at `loopback`',
  }),
  PHONE_CALLS_PER_AGENT: unlessEmpty(
    z.coerce.number().int().min(1).max(CALLS.most).default(CALLS.agent),
  ).meta({
    description:
      'Calls of an agent at a time, where the voice settings of the agent name no other number.',
    takes: `calls, 1 to ${CALLS.most}`,
  }),
  PHONE_CALLS_PER_ACCOUNT: unlessEmpty(
    z.coerce.number().int().min(1).max(CALLS.most).default(CALLS.account),
  ).meta({
    description:
      'Calls of an account at a time, where `PUT /v1/admin/call-limits/{accountId}` sets no other number.',
    takes: `calls, 1 to ${CALLS.most}`,
  }),
  PHONE_MEDIA_TIMEOUT_SECONDS: unlessEmpty(
    z.coerce
      .number()
      .min(2)
      .max(600)
      .default(CONFIG_LIMITS.phone.mediaTimeoutMs / 1_000),
  ).meta({
    description:
      'A call whose carrier sends no sound for so long is ended and billed to the last of it.',
    takes: 'seconds, 2 to 600',
  }),
  PHONE_CALLING_HOURS: optional(
    z.string().regex(/^([01]?\d|2[0-3])-([01]?\d|2[0-4])$/, 'must be two hours, such as 8-21'),
  ).meta({
    description: 'The hours of the callee in which calls may be placed.',
    takes: 'two hours, such as `8-21`',
    unset: 'at any hour',
  }),
  PHONE_STT_MODEL: unlessEmpty(z.string().default('local/pocketsphinx')).meta({
    description:
      'The model that transcribes callers. The server refuses to start with one that cannot serve calls.',
    takes: 'a transcription model of the catalogue',
  }),
  PHONE_TTS_MODEL: unlessEmpty(z.string().default('local/flite')).meta({
    description:
      'The model that speaks to callers. The server refuses to start with one that cannot serve calls.',
    takes: 'a speech model of the catalogue',
  }),
  PHONE_RATE_CARD_FILE: text().meta({
    description: 'Prices that replace those of the built-in rate card.',
    takes: 'a JSON file',
    unset: 'the built-in prices',
  }),
  PHONE_RECORDING_DAYS: unlessEmpty(
    z.coerce.number().int().min(1).max(3_650).default(CONFIG_LIMITS.phone.recordingDays),
  ).meta({
    description: 'Days after which this server has the carrier delete the recording of a call.',
    takes: 'days, 1 to 3650',
  }),
  PHONE_MONTHLY_CARRIER_LIMIT_USD: optional(z.coerce.number().positive()).meta({
    description:
      'The spend at the carrier in a month at which it suspends the phone service of this server. Twilio reports it; with ' +
      'another carrier the server refuses to start. At Telnyx the outbound voice profile has a daily spend limit.',
    unset: 'no limit',
  }),
};
