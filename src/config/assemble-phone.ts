import type { z } from 'zod';
import { ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';

/** Calls per second that a carrier lets a new account place. */
const DIALS_PER_SECOND = { twilio: 1, telnyx: 30, loopback: undefined, none: undefined } as const;

/**
 * Assembles the carrier and the settings of the phone service. Throws ConfigError, naming the variable, when only a part of a
 * carrier's credentials is set: a phone service that stays off would hide the mistake.
 */
export function assemblePhone(env: z.output<typeof Environment>) {
  const twilio = together(env, ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN']);
  const telnyx = together(env, ['TELNYX_API_KEY', 'TELNYX_PUBLIC_KEY', 'TELNYX_CONNECTION_ID']);
  const found = twilio ? 'twilio' : telnyx ? 'telnyx' : undefined;
  const carrier =
    env.PHONE_CARRIER ?? found ?? (env.NODE_ENV === 'development' ? 'loopback' : 'none');
  const missing = { twilio: !twilio, telnyx: !telnyx, loopback: false, none: false }[carrier];
  if (missing) throw new ConfigError(`PHONE_CARRIER "${carrier}" has no credentials`);
  if ((carrier === 'twilio' || carrier === 'telnyx') && env.PUBLIC_URL === undefined) {
    throw new ConfigError('PUBLIC_URL is required with a carrier, which signs and calls it');
  }
  const [from, until] = env.PHONE_CALLING_HOURS?.split('-').map(Number) ?? [0, 24];
  return {
    carrier,
    twilio: twilio && {
      accountSid: twilio.TWILIO_ACCOUNT_SID,
      authToken: twilio.TWILIO_AUTH_TOKEN,
      baseUrl: env.TWILIO_BASE_URL,
    },
    telnyx: telnyx && {
      apiKey: telnyx.TELNYX_API_KEY,
      publicKey: telnyx.TELNYX_PUBLIC_KEY,
      connectionId: telnyx.TELNYX_CONNECTION_ID,
      baseUrl: env.TELNYX_BASE_URL,
    },
    countries: env.PHONE_COUNTRIES.split(','),
    mediaTimeoutMs: env.PHONE_MEDIA_TIMEOUT_SECONDS * 1_000,
    concurrentCalls: { agent: env.PHONE_CALLS_PER_AGENT, account: env.PHONE_CALLS_PER_ACCOUNT },
    dialsPerSecond: env.PHONE_DIALS_PER_SECOND ?? DIALS_PER_SECOND[carrier],
    callingHours: { from: from ?? 0, until: until ?? 24 },
    sttModel: env.PHONE_STT_MODEL,
    ttsModel: env.PHONE_TTS_MODEL,
    rateCardFile: env.PHONE_RATE_CARD_FILE,
    recordingDays: env.PHONE_RECORDING_DAYS,
    monthlyCarrierLimitUsd: env.PHONE_MONTHLY_CARRIER_LIMIT_USD,
  } as const;
}

/** All of these variables, or undefined where none is set. */
function together<Name extends string>(
  env: Readonly<Partial<Record<Name, string | undefined>>>,
  names: readonly Name[],
): Readonly<Record<Name, string>> | undefined {
  const unset = names.filter((name) => env[name] === undefined);
  if (unset.length === names.length) return undefined;
  if (unset[0] !== undefined) {
    const set = names.filter((name) => env[name] !== undefined);
    throw new ConfigError(`${unset[0]} is required beside ${set[0]}`);
  }
  return env as Readonly<Record<Name, string>>;
}
