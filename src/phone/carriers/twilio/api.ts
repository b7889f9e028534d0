import type { Twilio } from 'twilio';
import type { Fetch } from '../../../platform/egress/fetch.ts';
import { CarrierFailed } from '../carrier.ts';
import { carrierAway, failedAnswer } from '../failed-answer.ts';
import { createSdkClient } from './http-client.ts';

export type TwilioAccount = {
  readonly accountSid: string;
  readonly authToken: string;
  readonly baseUrl: string;
};

/** Twilio's API, called through its SDK. */
export type TwilioApi = {
  /** Makes a request with the SDK. Throws CarrierFailed, and nothing else. */
  ask<T>(request: (client: Twilio) => Promise<T>): Promise<T>;
};

/** Meaning of Twilio's error codes for a number: another account has it or none is left, or it cannot be called. */
const NUMBERS: ReadonlyMap<unknown, 'taken' | 'invalid'> = new Map([
  [21_422, 'taken'],
  [21_452, 'taken'],
  [21_211, 'invalid'],
  [21_217, 'invalid'],
]);

/** Creates the access to Twilio's API. The SDK is large, and is loaded with the first request. */
export function createTwilioApi(deps: TwilioAccount & { readonly fetch: Fetch }): TwilioApi {
  let loading: Promise<Twilio> | undefined;

  async function load(): Promise<Twilio> {
    const { default: sdk } = await import('twilio');
    const httpClient = createSdkClient(deps) as unknown as InstanceType<typeof sdk.RequestClient>;
    return sdk(deps.accountSid, deps.authToken, { httpClient, lazyLoading: true });
  }

  return {
    async ask(request) {
      try {
        loading ??= load();
        return await request(await loading);
      } catch (error) {
        throw failureOf(error);
      }
    },
  };
}

/**
 * Returns the CarrierFailed for an error of the SDK. The SDK throws RestException for an HTTP status, and passes other errors
 * through.
 */
function failureOf(error: unknown): CarrierFailed {
  const {
    status,
    code,
    message: words,
  } = error as {
    readonly status?: unknown;
    readonly code?: unknown;
    readonly message?: unknown;
  };
  if (typeof status !== 'number') return carrierAway('twilio', error);
  return failedAnswer('twilio', { status, code, words, number: NUMBERS.get(Number(code)) });
}

/** Returns true when Twilio does not know the call, number or recording of the request. */
export const isUnknown = (error: unknown): boolean =>
  error instanceof CarrierFailed &&
  (error.code === '20404' || (error.cause as { status?: unknown } | undefined)?.status === 404);
