import type { CallToolResult } from '@modelcontextprotocol/server';
import { type HttpAnswer, JSON_TYPE } from '../http/route/answer.ts';
import { renderError } from '../http/route/render-error.ts';
import { formatUsdc, parseAmountRaw } from '../kernel/amount.ts';
import { BRAND } from '../kernel/ids.ts';
import { JSON_LIMITS } from '../kernel/json/limits.ts';
import { tryParseJson } from '../kernel/json/parse-json.ts';
import { isObject, type Json } from '../kernel/json.ts';
import type { Log } from '../kernel/log.ts';
import type { RouteAnswer } from './route-answer.ts';

const header = (name: string) => `${BRAND.headerPrefix}${name}`;

/**
 * Returns the cost of a call: `costUsdc` in dollars, `costRaw` in units of 10⁻⁶ USDC. Empty for a route that sells
 * nothing.
 */
export function costOf({ headers }: Pick<RouteAnswer, 'headers'>): Json {
  const costRaw = parseAmountRaw(headers[header('cost-usdc')] ?? '');
  const left = headers[header('budget-remaining-usdc')];
  const payment = headers[header('payment')];
  return {
    ...(costRaw !== undefined && { costUsdc: formatUsdc(costRaw), costRaw: costRaw.toString() }),
    ...(left !== undefined && { budgetRemainingUsdc: left }),
    ...(payment !== undefined && { payment }),
    ...(headers[header('idempotent-replay')] === 'true' && { replayed: true }),
  };
}

/** Returns the cost in a route's response; 0 when the response states no cost. */
export const costRawOf = ({ headers, lines = [] }: HttpAnswer): bigint =>
  parseAmountRaw(headers[header('cost-usdc')] ?? new Map(lines).get(header('cost-usdc')) ?? '') ??
  0n;

/** Returns true when an answer comes from a vendor and not from this server. */
export const isRelayed = ({ headers }: Pick<RouteAnswer, 'headers'>): boolean =>
  headers[header('payment')] !== undefined;

type Content = CallToolResult['content'];

/** Returns a result with the same facts as text, for models, and as JSON, for programs. */
export const toolResult = (facts: Json, content: Content = []): CallToolResult => ({
  content: [...content, { type: 'text', text: JSON.stringify(facts) }],
  structuredContent: { ...facts },
});

/** Returns a route's refusal as a result: with the code and the sentence of the refusal. */
export function refusedResult({ status, headers, bytes }: RouteAnswer): CallToolResult {
  const told = tryParseJson(bytes, JSON_LIMITS.upstream);
  const { error, detail: _, ...fields } = isObject(told) ? told : {};
  const nested = isObject(error) ? error : {};
  const code = text(nested.code) ?? text(error) ?? 'upstream_error';
  const message = text(nested.message) ?? text(fields.message) ?? code;
  const mayRetry = headers['x-should-retry'];
  return {
    isError: true,
    content: [{ type: 'text', text: `${code}: ${message}` }],
    structuredContent: {
      ...fields,
      ...costOf({ headers }),
      error: code,
      message,
      status,
      ...(mayRetry !== undefined && { mayRetry: mayRetry === 'true' }),
    },
  };
}

/** Returns an error from outside any route as a refusal. A bug is logged, and the result says nothing about it. */
export function thrownResult(thrown: unknown, log: Log): CallToolResult {
  const answer: HttpAnswer = renderError(thrown, 'flat', () => log);
  const { status, headers, body } = answer;
  const bytes = Buffer.from(body as string);
  return refusedResult({ status, headers, bytes, contentType: JSON_TYPE, isCut: false });
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
