import { expect, it } from 'vitest';
import type { ApiError } from '../../../../src/kernel/api-error.ts';
import { requireDelivered } from '../../../../src/protocols/deepgram/require-delivered.ts';

const answer = (status: number, text: string) => ({
  status,
  body: Buffer.from(text),
  upstreamMs: 1,
  headers: { 'content-type': 'text/plain', 'x-svc-cost-usdc': '0' },
});

it('requireDelivered returns a delivered result and throws a refusal with its own message', () => {
  const delivered = answer(200, 'words');
  expect(requireDelivered(delivered)).toBe(delivered);
  for (const [text, message] of [
    ['{"err_msg":"corrupt"}', 'corrupt'],
    ['{"error":{"message":"too short"}}', 'too short'],
    ['{"error":"flat"}', 'flat'],
    ['{"message":"plain"}', 'plain'],
    ['<html>', 'The upstream refused this request.'],
    [`{"err_msg":"${'x'.repeat(20_000)}"}`, 'The upstream refused this request.'],
  ] as const) {
    let thrown: unknown;
    try {
      requireDelivered(answer(422, text));
    } catch (error) {
      thrown = error;
    }
    const { error, fields, headers, status } = thrown as ApiError;
    expect({ error, status, message: fields.message, headers }).toEqual({
      error: 'upstream_refused',
      status: 422,
      message,
      headers: { 'x-svc-cost-usdc': '0' },
    });
  }
});
