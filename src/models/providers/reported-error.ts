import { isObject, type Json } from '../../kernel/json.ts';
import { X402_LIMITS } from '../../x402/limits.ts';
import { StreamBroken } from './openai/answer-reader.ts';
import { type Declined, type Failed, failed } from './outcome.ts';
import { unservedOf } from './upstream-pool.ts';

/** Valid error codes and types for a log. */
const WORD = /^[\w.-]{1,64}$/;

const isWord = (value: unknown): value is string => typeof value === 'string' && WORD.test(value);

const wordIn = ({ code, type }: Json): string | undefined => [code, type].find(isWord);

/** Error with which the upstream ended its own answer. */
export class ReportedError extends StreamBroken {
  /** Private, because logs print the members of errors and a vendor's error may quote a prompt. */
  readonly #error: Json;

  constructor(error: unknown) {
    const said = isObject(error) ? error : {};
    super(`it reported ${wordIn(said) ?? 'an error'}`);
    this.#error = said;
  }

  /** Error object of the upstream. */
  get error(): Json {
    return this.#error;
  }

  /** Name of the error in logs and traces: its code or its type. */
  get word(): string | undefined {
    return wordIn(this.#error);
  }

  /** Error message of the upstream, cut to `X402_LIMITS.reasonChars` characters. */
  get told(): string {
    const { message } = this.#error;
    return typeof message === 'string' ? message.slice(0, X402_LIMITS.reasonChars) : '';
  }

  /**
   * Code of the error if clients can act on it. Codes about an empty or closed account are left out, because the account is
   * this server's and not the caller's.
   */
  get code(): string | undefined {
    const { code } = this.#error;
    return isWord(code) && !OF_THE_ACCOUNT.has(code) ? code : undefined;
  }
}

const OF_THE_ACCOUNT: ReadonlySet<unknown> = new Set(['insufficient_quota', 'invalid_api_key']);

/**
 * Codes of OpenAI's responses for an error in the request itself. OpenAI's client lists all but the first and the last
 * (https://developers.openai.com/api/reference/resources/responses).
 */
const OF_THE_REQUEST = [
  'context_length_exceeded',
  'invalid_prompt',
  'data_residency_mismatch',
  'bio_policy',
  'invalid_image',
  'invalid_image_format',
  'invalid_base64_image',
  'invalid_image_url',
  'invalid_image_mode',
  'image_too_large',
  'image_too_small',
  'image_parse_error',
  'image_content_policy_violation',
  'image_file_too_large',
  'image_file_not_found',
  'unsupported_image_media_type',
  'empty_image_file',
  'failed_to_download_image',
  'cyber_policy',
];

/** HTTP status for an error that the upstream reports after status 200, by the error's code or type. */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  ...OF_THE_REQUEST.map((code) => [code, 400] as const),
  ...['rate_limit_exceeded', 'rate_limit_error'].map((word) => [word, 429] as const),
  ['server_error', 500],
  ['vector_store_timeout', 500],
  ['invalid_request_error', 400],
  ['request_too_large', 413],
]);

/** Returns the HTTP status when the vendor uses the status itself as the error's code. */
const statusCode = (code: unknown): number | undefined =>
  /^[45]\d\d$/.test(String(code)) ? Number(code) : undefined;

const HEADERS = { 'content-type': 'application/json' };

/**
 * Returns the outcome of an answer that began with an error: the same as for an answer with that error's status. An unknown
 * error counts as the upstream's own.
 */
export function outcomeOf({ error, message }: ReportedError): Declined | Failed {
  const { code, type } = error;
  const status = STATUSES.get(code) ?? statusCode(code) ?? STATUSES.get(type);
  if (status === undefined || status >= 500) return failed('broken', message, status ?? 200);
  const whole = { type: 'invalid_request_error', param: null, ...error };
  const body = Buffer.from(JSON.stringify({ error: whole }));
  return unservedOf({ status, headers: HEADERS, body }, 0) ?? failed('broken', message, status);
}
