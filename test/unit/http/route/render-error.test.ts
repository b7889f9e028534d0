import { expect, it } from 'vitest';
import { credentialErrors } from '../../../../src/accounts/errors.ts';
import { requestErrors } from '../../../../src/http/route/errors.ts';
import { type Envelope, renderError } from '../../../../src/http/route/render-error.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { mcpErrors } from '../../../../src/mcp/errors.ts';

const shown = (thrown: unknown, envelope: Envelope) => {
  const { body, status } = renderError(thrown, envelope, () => silentLog);
  return { status, ...(JSON.parse(body as string) as Record<string, unknown>) };
};

it('a refusal has the envelope of its route, with the same code and message in each envelope', () => {
  const refusal = credentialErrors.invalidKey();
  const { message } = refusal.fields;
  const flat = { error: 'Invalid API key', message, detail: message };
  expect(shown(refusal, 'flat')).toEqual({ status: 401, ...flat });
  expect(shown(refusal, 'openai')).toMatchObject({
    status: 401,
    error: { code: 'invalid_api_key', message, type: 'authentication_error' },
  });
  expect(renderError(refusal, 'anthropic', () => silentLog, 'req_1')).toMatchObject({
    headers: { 'request-id': 'req_1' },
    body: JSON.stringify({
      type: 'error',
      error: { type: 'authentication_error', message, code: 'invalid_api_key' },
      request_id: 'req_1',
    }),
  });
  expect(shown(refusal, 'jsonrpc')).toEqual({
    status: 401,
    jsonrpc: '2.0',
    id: null,
    error: { code: -32_000, message, data: flat },
  });
});

it('JSON-RPC has its own error codes for unreadable messages and for bugs, and shows no detail of a bug', () => {
  const codeOf = (thrown: unknown) =>
    (shown(thrown, 'jsonrpc') as unknown as { error: { code: number } }).error.code;
  expect(codeOf(requestErrors.parseError())).toBe(-32_700);
  expect(codeOf(mcpErrors.invalidMessage('no'))).toBe(-32_600);
  expect(codeOf(new Error('the secret'))).toBe(-32_603);
  expect(JSON.stringify(shown(new Error('the secret'), 'jsonrpc'))).not.toContain('secret');
});

it('a text that PostgreSQL refuses is a 400, and any other value that it refuses is a 500', () => {
  const refused = (code: string) => shown(Object.assign(new Error('the secret'), { code }), 'flat');
  for (const code of ['22021', '22P05']) {
    expect(refused(code)).toMatchObject({
      status: 400,
      error: 'Invalid request',
      message:
        'A text of this request has a NUL character, which no row can hold. Send it without.',
    });
  }
  expect(refused('22P02')).toMatchObject({ status: 500, error: 'Internal error' });
});
