import { TRACING_LIMITS } from './limits.ts';

/** A span of another service, as the headers of its request name it (W3C Trace Context). */
export type TraceContext = {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** Data that other tracing systems keep with the trace (`tracestate`); passed on as received. */
  readonly state: string | undefined;
};

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_PARENT = '0'.repeat(16);
const SAMPLED = 1;

const STATE_KEY = /^[a-z0-9][a-z0-9_\-*/]{0,255}(@[a-z][a-z0-9_\-*/]{0,13})?$/;
const STATE_VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Reads `traceparent` and `tracestate`. A malformed parent counts as absent, a malformed state as empty. */
export function readTraceContext(headers: ReadonlyMap<string, string>): TraceContext | undefined {
  const parent = headers.get('traceparent');
  if (parent === undefined || parent.length > TRACING_LIMITS.context.parentChars) return undefined;
  const match = PARENT.exec(parent);
  if (match === null) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = match;
  // Later versions may add members. Version ff is invalid.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (traceId === NO_TRACE || spanId === NO_PARENT) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
  return { traceId, spanId, isSampled, state: readState(headers.get('tracestate')) };
}

function readState(text: string | undefined): string | undefined {
  if (text === undefined || text.length > TRACING_LIMITS.context.stateChars) return undefined;
  const members = text.split(',').map((member) => member.trim());
  const named = members.filter((member) => member !== '');
  if (named.length === 0 || named.length > TRACING_LIMITS.context.stateMembers) return undefined;
  const keys = new Set<string>();
  for (const member of named) {
    const at = member.indexOf('=');
    const key = member.slice(0, Math.max(0, at));
    if (!STATE_KEY.test(key) || !STATE_VALUE.test(member.slice(at + 1))) return undefined;
    keys.add(key);
  }
  return keys.size === named.length ? named.join(',') : undefined;
}

/** Returns the headers that name a span. */
export function traceHeaders({ isSampled, spanId, state, traceId }: TraceContext) {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
  return state === undefined ? { traceparent } : { traceparent, tracestate: state };
}
