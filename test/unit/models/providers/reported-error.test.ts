import type { ResponseError } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { outcomeOf, ReportedError } from '../../../../src/models/providers/reported-error.ts';

type Fate = 'declined' | 'broken' | 'rate_limited';

/** Every code that the client of OpenAI knows. */
const CODES: Readonly<Record<ResponseError['code'], Fate>> = {
  bio_policy: 'declined',
  data_residency_mismatch: 'declined',
  empty_image_file: 'declined',
  failed_to_download_image: 'declined',
  image_content_policy_violation: 'declined',
  image_file_not_found: 'declined',
  image_file_too_large: 'declined',
  image_parse_error: 'declined',
  image_too_large: 'declined',
  image_too_small: 'declined',
  invalid_base64_image: 'declined',
  invalid_image: 'declined',
  invalid_image_format: 'declined',
  invalid_image_mode: 'declined',
  invalid_image_url: 'declined',
  invalid_prompt: 'declined',
  rate_limit_exceeded: 'rate_limited',
  server_error: 'broken',
  unsupported_image_media_type: 'declined',
  vector_store_timeout: 'broken',
};

const fateOf = (error: unknown) => {
  const outcome = outcomeOf(new ReportedError(error));
  return outcome.kind === 'failed' ? outcome.failure : outcome.kind;
};

describe('an error that an answer begins with', () => {
  it.each(Object.entries(CODES))('a reported error with the code %s is %s', (code, fate) => {
    expect(fateOf({ code, message: 'x' })).toBe(fate);
  });

  it.each([
    ['declined', { code: 'context_length_exceeded' }],
    ['declined', { type: 'invalid_request_error', code: null }],
    ['declined', { type: 'invalid_request_error', code: 'yet_to_come' }],
    ['declined', { type: 'BadRequestError', code: 400 }],
    ['declined', { type: 'request_too_large' }],
    ['rate_limited', { type: 'rate_limit_error' }],
    ['rate_limited', { code: '429' }],
    ['broken', { code: 502 }],
    ['broken', { code: 'server_error', type: 'invalid_request_error' }],
    ['broken', { code: 'insufficient_quota', type: 'insufficient_quota' }],
    ['broken', { type: 'overloaded_error' }],
    ['broken', { code: 'yet_to_come' }],
    ['broken', {}],
    ['broken', null],
  ] as const)('a reported error is %s by its code, else by its type: %j', (fate, error) => {
    expect(fateOf(error)).toBe(fate);
  });

  it('a declined reported error keeps the vendor’s error object and gets its HTTP status', () => {
    const error = {
      code: 'context_length_exceeded',
      message: 'Too long.',
      param: 'input',
      more: 1,
    };
    const outcome = outcomeOf(new ReportedError(error));
    expect(outcome).toMatchObject({
      kind: 'declined',
      status: 400,
      contentType: 'application/json',
    });
    const body = 'body' in outcome ? JSON.parse(Buffer.from(outcome.body).toString()) : undefined;
    expect(body).toEqual({ error: { type: 'invalid_request_error', ...error } });
    expect(outcomeOf(new ReportedError({ code: 403 }))).toMatchObject({ status: 403 });
  });

  it('a reported error’s log message has its code alone', () => {
    const broken = new ReportedError({ code: 'bio_policy', message: 'You said: secret' });
    expect(broken.message).toBe('it reported bio_policy');
    expect(JSON.stringify({ ...broken })).not.toContain('secret');
    expect(new ReportedError({ code: 'a\nb', message: 'x' }).message).toBe('it reported an error');
  });
});

it('a reported error has a text of limited length, and a code unless it is about the account', () => {
  const { code, told } = new ReportedError({ code: 'bio_policy', message: 'z'.repeat(10_000) });
  expect([code, told.length < 300]).toEqual(['bio_policy', true]);
  for (const odd of ['insufficient_quota', 'x\ny', '', 'y'.repeat(65), 400, null]) {
    expect(new ReportedError({ code: odd }).code).toBeUndefined();
  }
});
