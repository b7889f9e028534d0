import type { ApiError } from '../../kernel/api-error.ts';
import { errors } from '../../kernel/errors.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Envelope } from '../route/render-error.ts';

type Known = { readonly method: string; readonly path: string; readonly envelope: Envelope };

export type UnknownRoute = {
  readonly envelope: Envelope;
  /** Searches the routes, so it is to be asked for only when the refusal is really sent. */
  readonly refusal: () => ApiError;
};

/** What clients of OpenAI and of its like call, by the route that comes nearest to it here. */
const KIN: Readonly<Record<string, string>> = {
  '/v1/responses': '/v1/chat/completions',
  '/v1/completions': '/v1/chat/completions',
  '/v1/complete': '/v1/messages',
  '/v1/audio/translations': '/v1/audio/transcriptions',
  '/v1/realtime/sessions': '/v1/realtime/client_secrets',
  '/v1/realtime/transcription_sessions': '/v1/realtime/client_secrets',
};

/** Paths of vendors whose interface is not served, and the base URL that serves the same clients. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [
    /^\/v1(alpha|beta)?\/(\w+\/)?models\/[^/]+:\w+$/,
    "Gemini's own API is not served: use a client of OpenAI with the base URL <this server>/v1beta/openai/ or <this server>/v1.",
  ],
  [
    /^\/openai\/deployments\//,
    'Azure puts the model into the path: use a client of OpenAI with the base URL <this server>/v1 and name the model in the body.',
  ],
];

/**
 * Refuses a path that no route has, naming the route it was probably meant for; under `/v1` the nearest is named however
 * far it is. Clients of OpenAI's API read errors in its envelope alone, so that every path under `/v1` is refused in it,
 * except those of a family that has another envelope throughout, such as `/v1/developer` or `/v1/messages`; and so is a path
 * whose `/v1` was forgotten.
 */
export function createUnknownRoute(routes: readonly Known[]) {
  const known = routes.map((route) => ({ ...route, segments: route.path.split('/') }));
  const families = new Map<string, Envelope>();
  for (const { path, envelope } of known) {
    const family = familyOf(path);
    const isOwn = (families.get(family) ?? envelope) === envelope && envelope !== 'jsonrpc';
    families.set(family, isOwn ? envelope : 'openai');
  }
  return (method: string, path: string): UnknownRoute => {
    const isUnderV1 = path === '/v1' || path.startsWith('/v1/');
    const family = familyOf(isUnderV1 ? path.replace(/^\/v1\/v1\//, '/v1/') : belowV1(path));
    const envelope = families.get(family) ?? (isUnderV1 ? 'openai' : 'flat');
    const refusal = () => {
      const foreign = FOREIGN.find(([pattern]) => pattern.test(path))?.[1];
      if (foreign !== undefined) return errors.request.notFound(foreign);
      const nearest = nearestTo(known, method, path);
      const isNear = nearest !== undefined && isSlip(nearest, path);
      const asked = `${method} ${path.slice(0, LIMITS.badPathChars)}`;
      return errors.request.notFound(
        `There is no route ${asked}; ${hintOf(nearest, { isNear, isUnderV1 })}`,
      );
    };
    return { envelope, refusal };
  };
}

/** What a path outside of `/v1` was probably meant to be: its base is missing, or one too many stands before it. */
function belowV1(path: string): string {
  const at = path.indexOf('/v1/');
  return at === -1 ? `/v1${path}` : path.slice(at);
}

/** Fewer edits than a third of the characters of the shorter of the two. A parameter matches anything. */
const isSlip = ({ cost, route }: Nearest, path: string): boolean =>
  cost < Math.min(path.length, route.path.replace(PARAMETERS, '').length) / 3;

const PARAMETERS = /:[^/]+/g;

function hintOf(
  nearest: Nearest | undefined,
  { isNear, isUnderV1 }: { readonly isNear: boolean; readonly isUnderV1: boolean },
): string {
  const all = '/.well-known/openapi.yaml lists all routes.';
  if (nearest === undefined || !(isNear || isUnderV1)) return all;
  const name = `${nearest.route.method} ${nearest.route.path}`;
  return isNear ? `did you mean ${name}?` : `the nearest is ${name}, and ${all}`;
}

/** The first two segments: `/v1/developer`. */
const familyOf = (path: string): string => path.split('/', 3).join('/');

type Split = Known & { readonly segments: readonly string[] };
type Nearest = { readonly route: Split; readonly cost: number };

/** The route whose path takes the fewest edits; among equals, one of this verb. Undefined: none has about as many segments. */
function nearestTo(known: readonly Split[], method: string, path: string): Nearest | undefined {
  if (path.length > LIMITS.badPathChars) return undefined;
  const kin = KIN[path];
  const words: Words = new Map();
  const asked = (kin ?? path).split('/');
  // A base URL without its `/v1`, or with one too many, is the most usual mistake.
  const based = ['', 'v1', ...asked.slice(path.startsWith('/v1/v1/') ? 3 : 1)];
  let best: Nearest | undefined;
  for (const route of known) {
    const distance = Math.min(
      edits(asked, route.segments, words),
      1 + edits(based, route.segments, words),
    );
    const cost = distance + (route.method === method ? 0 : 0.5);
    if (cost < (best?.cost ?? Number.POSITIVE_INFINITY)) best = { route, cost };
  }
  return best;
}

/**
 * Levenshtein's distance by segments: a parameter in `wanted` matches any one segment, and one that is missing or too
 * much counts as a short word. What two segments differ by is kept in `words`, since routes share most of theirs.
 */
function edits(asked: readonly string[], wanted: readonly string[], words: Words): number {
  // Routes are short: what has so many segments more is none of them.
  if (Math.abs(asked.length - wanted.length) > SEGMENTS_APART) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: wanted.length + 1 }, (_, i) => i * MISSING_SEGMENT);
  for (const [i, segment] of asked.entries()) {
    const next = [(i + 1) * MISSING_SEGMENT];
    const learnt = words.get(segment) ?? new Map<string, number>();
    words.set(segment, learnt);
    for (const [j, pattern] of wanted.entries()) {
      next.push(
        Math.min(
          (row[j] as number) + wordEdits(segment, pattern, learnt),
          (row[j + 1] as number) + MISSING_SEGMENT,
          (next[j] as number) + MISSING_SEGMENT,
        ),
      );
    }
    row = next;
  }
  return row[wanted.length] as number;
}

const SEGMENTS_APART = 3;
const MISSING_SEGMENT = 4;
const TWO_MISSING = 2 * MISSING_SEGMENT;

/** By a segment that was asked for, and by one of a route. */
type Words = Map<string, Map<string, number>>;

function wordEdits(segment: string, pattern: string, learnt: Map<string, number>): number {
  if (segment === pattern || (pattern.startsWith(':') && segment !== '')) return 0;
  // Leaving the one out and putting the other in takes fewer edits.
  if (Math.abs(segment.length - pattern.length) >= TWO_MISSING) return TWO_MISSING;
  let cost = learnt.get(pattern);
  if (cost === undefined) {
    cost = editsOf(segment, pattern);
    learnt.set(pattern, cost);
  }
  return cost;
}

/** Two rows of the usual table; no segment that is compared is longer. */
const rows = [0, 1].map(() => new Uint8Array(LIMITS.badPathChars + 1)) as [Uint8Array, Uint8Array];

function editsOf(from: string, to: string): number {
  let [row, next] = rows;
  for (let j = 0; j <= to.length; j++) row[j] = j;
  for (let i = 1; i <= from.length; i++) {
    next[0] = i;
    const char = from.charCodeAt(i - 1);
    for (let j = 1; j <= to.length; j++) {
      const swap = (row[j - 1] as number) + (char === to.charCodeAt(j - 1) ? 0 : 1);
      const other = Math.min(row[j] as number, next[j - 1] as number) + 1;
      next[j] = Math.min(swap, other);
    }
    [row, next] = [next, row];
  }
  return row[to.length] as number;
}
