import type { ErrorType } from '@anthropic-ai/sdk/resources/shared';
import { describe, expect, it } from 'vitest';
import { EngineBusy } from '../../../../src/engines/engine.ts';
import { countHere } from '../../../../src/models/messages/count-here.ts';
import { inMessagesWords } from '../../../../src/models/messages/declined-words.ts';
import { withoutForeignThoughts } from '../../../../src/models/messages/foreign-thoughts.ts';
import { knownName } from '../../../../src/models/messages/known-name.ts';
import { MESSAGES_ENDING } from '../../../../src/models/messages/messages-ending.ts';
import { CountRequest } from '../../../../src/models/messages/messages-request.ts';
import { readProtocol } from '../../../../src/models/messages/protocol-headers.ts';
import { blocksOf, sourceOf } from '../../../../src/models/messages/read-block.ts';
import { stopAfter } from '../../../../src/models/messages/stop-after.ts';
import {
  reportedError,
  translatedError,
} from '../../../../src/models/providers/anthropic/broken-message.ts';
import { readMessage } from '../../../../src/models/providers/anthropic/read-message.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const declined = (status: number, body: string) => ({
  kind: 'declined' as const,
  status,
  contentType: 'text/plain',
  body: Buffer.from(body),
});
const said = (outcome: ReturnType<typeof inMessagesWords>) =>
  'body' in outcome ? JSON.parse(Buffer.from(outcome.body).toString()) : undefined;

describe('a refusal of an upstream', () => {
  it('an upstream’s error stays unchanged in the Messages envelope, and is put into it otherwise', () => {
    const own = declined(
      400,
      '{"type":"error","error":{"type":"x","message":"y"},"request_id":"r"}',
    );
    expect(inMessagesWords(own)).toBe(own);
    expect(said(inMessagesWords(declined(404, '{"error":{"message":"none"}}')))).toEqual({
      type: 'error',
      error: { type: 'not_found_error', message: 'none' },
    });
    expect(said(inMessagesWords(declined(418, '<html>')))).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'The provider answered 418.' },
    });
  });

  it.each([
    { code: 'context_length_exceeded', message: 'Shorten it.' },
    { message: "This model's maximum context length is 8192 tokens." },
    { message: 'The input token count exceeds the maximum number of tokens allowed' },
  ])(
    'an upstream’s error about prompt length gets the wording that Messages clients know: $message',
    (error) => {
      const { message } = said(inMessagesWords(declined(400, JSON.stringify({ error })))).error;
      expect(message).toBe(`prompt is too long: ${error.message}`);
    },
  );
});

it('a Messages stream ends with its price, followed by its end or its error', () => {
  expect(MESSAGES_ENDING.whole({ chargedRaw: 7n }).toString()).toBe(
    ': svc-cost-usdc=7\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
  );
  const told = reportedError({ type: 'overloaded_error', message: 'later' });
  expect(MESSAGES_ENDING.broken({ chargedRaw: 7n }, told).toString()).toMatch(
    /^: svc-cost-usdc=7\n\nevent: error\ndata: .*"type":"overloaded_error".*It said: later/,
  );
  expect(MESSAGES_ENDING.broken({ chargedRaw: 7n }, new Error('secret')).toString()).not.toContain(
    'secret',
  );
  const odd = reportedError({ type: 'x\nevent: y', message: 'z'.repeat(10_000) });
  expect([odd.type, odd.told.length < 300]).toEqual(['api_error', true]);
});

it('an OpenAI error becomes an error type that Anthropic clients know', () => {
  const typeOf = (error: unknown): ErrorType => translatedError(error).type as ErrorType;
  const cases: readonly [ErrorType, readonly unknown[]][] = [
    ['api_error', [{ type: 'server_error' }, { type: 'insufficient_quota' }, {}, null, 'x']],
    ['api_error', [{ type: 'authentication_error' }, { code: 500 }, { type: 'x\nevent: y' }]],
    ['invalid_request_error', [{ type: 'invalid_request_error' }]],
    ['rate_limit_error', [{ type: 'tokens', code: 'rate_limit_exceeded' }, { code: 429 }]],
    ['rate_limit_error', [{ type: 'odd', code: 'rate_limit_exceeded' }]],
    ['overloaded_error', [{ type: 'overloaded_error' }, { code: 503 }, { code: 'slow_down' }]],
    ['timeout_error', [{ type: 'timeout_error' }, { code: 504 }]],
  ];
  for (const [type, errors] of cases) expect(errors.map(typeOf)).toEqual(errors.map(() => type));
  const { told } = translatedError({ type: 'server_error', message: 'z'.repeat(10_000) });
  expect(told.length).toBeLessThan(300);
});

it('thoughts without a signature are not sent to a vendor that signs thoughts', () => {
  const own = { type: 'thinking', thinking: 'a', signature: 's' };
  const foreign = { type: 'thinking', thinking: 'b', signature: '' };
  const asked = (content: unknown) =>
    CountRequest.parse({ model: 'm', messages: [{ role: 'assistant', content }] });
  const kept = asked([own, { type: 'text', text: 'x' }]);
  expect(withoutForeignThoughts(kept)).toBe(kept);
  expect(withoutForeignThoughts(asked([own, foreign])).messages[0]?.content).toEqual([own]);
  expect(withoutForeignThoughts(asked([foreign])).messages).toEqual([]);
});

it('a Claude model name with a date finds the model without it when the catalogue has no dated one', () => {
  const models = new Set(['claude-x', 'claude-y', 'claude-y-20250101']);
  const find = (id: string) => (models.has(id) ? ({} as never) : undefined);
  const named = (name: string) => knownName({ find, findKeyed: () => undefined }, name);
  expect(named('claude-x-20251001')).toBe('claude-x');
  expect(named('claude-y-20250101')).toBe('claude-y-20250101');
  expect(named('claude-z-20250101')).toBe('claude-z-20250101');
  expect(named('claude-x')).toBe('claude-x');
});

it('the Messages protocol headers pass on a known version and a valid list of beta features', () => {
  const read = (headers: Record<string, string>) => readProtocol(new Map(Object.entries(headers)));
  expect(read({})).toEqual({});
  expect(read({ 'anthropic-version': '2026-10-21', 'anthropic-beta': ' a-1, b.2 ' })).toEqual({
    'anthropic-version': '2026-10-21',
    'anthropic-beta': 'a-1, b.2',
  });
  expect(() => read({ 'anthropic-version': '2030-01-01' })).toThrow('invalid_request');
  expect(() => read({ 'anthropic-beta': 'a\tb' })).toThrow('invalid_request');
});

it('Messages content is read as blocks, whether it is a text or a list', () => {
  expect(blocksOf('a')).toEqual([{ type: 'text', text: 'a' }]);
  expect(blocksOf([1])).toEqual([1]);
  expect(blocksOf(null)).toEqual([]);
  expect(sourceOf({ source: 'x' })).toEqual({});
});

it('a timed wait ends with its time or with its parent signal, and not after it is over', () => {
  const clock = new ManualClock();
  const gone = new AbortController();
  const first = stopAfter(clock, 100, gone.signal);
  clock.advance(99);
  expect(first.signal.aborted).toBe(false);
  clock.advance(1);
  expect(first.signal.aborted).toBe(true);
  const second = stopAfter(clock, 100, gone.signal);
  second.over();
  clock.advance(1_000);
  expect(second.signal.aborted).toBe(false);
  const third = stopAfter(clock, 100, gone.signal);
  gone.abort();
  expect([second.signal.aborted, third.signal.aborted]).toEqual([false, true]);
  expect(stopAfter(clock, 100, gone.signal).signal.aborted).toBe(true);
});

it('a prompt is counted by its length when the token encoder is busy', async () => {
  const request = CountRequest.parse({
    model: 'm',
    messages: [{ role: 'user', content: 'x'.repeat(400) }],
  });
  const busy = { count: () => Promise.reject(new EngineBusy(1)) };
  expect(await countHere(busy, request, 1)).toBe(108);
  const broken = { count: () => Promise.reject(new Error('a bug')) };
  await expect(countHere(broken, request, 1)).rejects.toThrow('a bug');
});

it('a message has its reported usage, or else the length of all its text', async () => {
  const read = (message: object) => readMessage(Buffer.from(JSON.stringify(message)));
  expect(await readMessage(Buffer.from('x'))).toBeUndefined();
  expect(await read({ content: 'x' })).toBeUndefined();
  const content = [
    { type: 'thinking', thinking: 'abc' },
    { type: 'text', text: 'de' },
    { type: 'tool_use', name: 'f', input: { a: 1 } },
  ];
  expect(await read({ content })).toMatchObject({ usage: null, answerChars: 3 + 2 + 1 + 7 });
  expect(await read({ content, usage: { input_tokens: 1, output_tokens: 2 } })).toMatchObject({
    usage: { inputTokens: 1, outputTokens: 2 },
  });
});
