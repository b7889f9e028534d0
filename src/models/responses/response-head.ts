import type { Json } from '../../kernel/json.ts';
import { gatewayErrors } from '../errors.ts';
import { RESPONSES_LIMITS } from './limits.ts';
import type { ResponsesRequest } from './responses-request.ts';

/** Facts of a response that are known before the upstream gets the request. */
export type ResponseHead = {
  readonly id: string;
  readonly createdSec: number;
  /** True when the response will be kept. */
  readonly isKept: boolean;
  /**
   * Returns the JSON of the members that repeat the request, without braces. Not used for a relayed response, which has its
   * own.
   */
  readonly echo: () => string;
};

/**
 * Returns the head of a response. Throws the refusal when the response would repeat more than `echoBytes` of its request: three
 * events of a stream carry that part.
 */
export function headOf(request: ResponsesRequest, begun: Omit<ResponseHead, 'echo'>): ResponseHead {
  const { createdSec, id, isKept } = begun;
  const echo = () => echoOf(request);
  const { echoBytes } = RESPONSES_LIMITS.request;
  if (!isShort(request) && Buffer.byteLength(echo()) > echoBytes) {
    throw gatewayErrors.invalidRequest(
      `Instructions, tools and all else that a response repeats may have ${echoBytes} bytes together.`,
      'tools',
    );
  }
  return { id, createdSec, isKept, echo };
}

/**
 * Returns true when the members that a response repeats are texts and numbers of at most `SHORT_CHARS` in all. Such a request
 * is not written out to be measured.
 */
function isShort(request: Json): boolean {
  let chars = 0;
  for (const name in request) {
    const value = request[name];
    if (name === 'input') continue;
    if (typeof value === 'string') chars += value.length;
    else if (typeof value === 'object' && value !== null) return false;
  }
  return chars <= SHORT_CHARS;
}

/** Characters that stay far below the byte limit in any encoding, so that the bytes need not be counted. */
const SHORT_CHARS = 64 * 1024;

/** Members of a response that repeat its request, with their values when the request does not set them. */
const ECHOED: readonly (readonly [member: string, unsaid: unknown])[] = [
  ['instructions', null],
  ['max_output_tokens', null],
  ['max_tool_calls', null],
  ['parallel_tool_calls', true],
  ['previous_response_id', null],
  ['prompt_cache_key', null],
  ['reasoning', { effort: null, summary: null }],
  ['safety_identifier', null],
  ['service_tier', 'default'],
  ['temperature', null],
  ['text', { format: { type: 'text' } }],
  ['tool_choice', 'auto'],
  ['tools', []],
  ['top_logprobs', 0],
  ['top_p', null],
  ['truncation', 'disabled'],
  ['user', null],
  ['metadata', {}],
];

/** Parts of each echoed member's JSON: its name, its JSON when the request does not set it, and its bit in a set of members. */
const WRITTEN = ECHOED.map(([member, unsaid], at) => {
  const name = `"${member}":`;
  return { member, name, bit: 1 << at, unsaid: name + JSON.stringify(unsaid) };
});

function echoOf(request: ResponsesRequest): string {
  let said = '';
  let unsaid = 0;
  for (const { bit, member, name } of WRITTEN) {
    const value = request[member] ?? undefined;
    if (value === undefined) unsaid |= bit;
    else
      said += `${said === '' ? '' : ','}${name}${JSON.stringify(whole(request, member) ?? value)}`;
  }
  if (unsaid === 0) return said;
  return said === '' ? unsaidEcho(unsaid) : `${said},${unsaidEcho(unsaid)}`;
}

/**
 * JSON of the members that a request does not set, by the set of those members. Clients omit the same members in all their
 * requests.
 */
const unsaidEchoes = new Map<number, string>();
const MOST_ECHOES = 1_024;

/** Returns the JSON of the members with these bits, with the values that a response has when its request does not set them. */
function unsaidEcho(bits: number): string {
  const known = unsaidEchoes.get(bits);
  if (known !== undefined) return known;
  const echo = WRITTEN.flatMap(({ bit, unsaid }) => ((bits & bit) === 0 ? [] : [unsaid])).join();
  if (unsaidEchoes.size < MOST_ECHOES) unsaidEchoes.set(bits, echo);
  return echo;
}

/**
 * Returns the value that a response shows for a member, when it has more than the request's value. Undefined when the request's
 * value is shown unchanged.
 */
function whole({ reasoning, text }: ResponsesRequest, member: string): Json | undefined {
  if (member === 'reasoning') {
    return { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null };
  }
  if (member === 'text') return { ...text, format: text?.format ?? { type: 'text' } };
  return undefined;
}
