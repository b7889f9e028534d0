import { isUtf8 } from 'node:buffer';
import type { ZodError, ZodType } from 'zod';
import { copyDigits } from '../../kernel/json/digits.ts';
import { JsonTooComplex, JsonTooLong } from '../../kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../../kernel/json/parse-json-in-turns.ts';
import { gatewayErrors } from '../../models/errors.ts';
import type { ValidationDetail } from '../route/errors.ts';
import { requestErrors } from '../route/errors.ts';
import { type Envelope, isVendorEnvelope } from '../route/render-error.ts';
import type { AnyRoute } from '../route/route.ts';

/** Returns the refusal of bad input, in the wording of the route's envelope. */
export function refuseInput(details: readonly ValidationDetail[], envelope: Envelope): Error {
  const first = details[0];
  if (!isVendorEnvelope(envelope) || first === undefined) return requestErrors.invalid(details);
  const param = first.path.join('.');
  const message = param === '' ? first.message : `${param}: ${first.message}`;
  return gatewayErrors.invalidRequest(message, param === '' ? null : param);
}

/** Most validation issues that a refusal lists. An issue for each element of a long array would make a long list. */
const DETAILS_SHOWN = 20;

const detailsOf = (error: ZodError): ValidationDetail[] =>
  error.issues.slice(0, DETAILS_SHOWN).map((issue) => ({
    path: issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part)),
    message: issue.message,
    code: issue.code,
  }));

/** Returns outside data that matches its shape. Throws the refusal when it does not match. */
export function parseShape(
  schema: ZodType | undefined,
  value: unknown,
  envelope: Envelope,
): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw refuseInput(detailsOf(parsed.error), envelope);
  return copyDigits(value, parsed.data);
}

/** Decodes the percent-encoding of path parameters. Throws the refusal of an invalid escape. */
export function decodeParams(
  rawParams: readonly (readonly [string, string])[],
  envelope: Envelope,
): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, value] of rawParams) {
    try {
      params[name] = value.includes('%') ? decodeURIComponent(value) : value;
    } catch {
      throw refuseInput(
        [{ path: [name], message: 'is not valid percent-encoding', code: 'invalid_encoding' }],
        envelope,
      );
    }
  }
  return params;
}

/** Returns one value for each name in a query string: the last value of a repeated name. */
export const decodeQuery = (query: string): Record<string, string> =>
  query === '' ? {} : Object.fromEntries(new URLSearchParams(query));

const MARK_BYTES = 3;

/** Returns true for bytes that begin with a byte order mark, as some clients begin UTF-8. */
const hasMark = (bytes: Buffer): boolean =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/**
 * Reads a JSON body, a long body in several turns of the event loop. An empty body reads as `{}`, since many clients post
 * nothing when all members are optional. Throws the refusal.
 */
export async function decodeJson(route: AnyRoute, bytes: Buffer): Promise<unknown> {
  if (bytes.length === 0) return {};
  const json = bytes.subarray(hasMark(bytes) ? MARK_BYTES : 0);
  if (!isUtf8(json)) throw badJson(route, 'The body is not valid UTF-8.', 'invalid_utf8');
  try {
    return await parseJsonInTurns(json, route.json);
  } catch (problem) {
    if (problem instanceof JsonTooLong) throw requestErrors.payloadTooLarge(problem.limitBytes);
    const tooComplex = problem instanceof JsonTooComplex ? problem.message : undefined;
    if (tooComplex === undefined)
      throw badJson(route, 'The body is not valid JSON.', 'invalid_json');
    throw badJson(route, `The body ${tooComplex}.`, 'json_too_complex');
  }
}

function badJson(route: AnyRoute, message: string, code: string): Error {
  if (route.badJson !== undefined) return route.badJson();
  return refuseInput([{ path: [], message, code }], route.envelope ?? 'flat');
}
