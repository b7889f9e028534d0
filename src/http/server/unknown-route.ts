import type { ApiError } from '../../kernel/api-error.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { requestErrors } from '../route/errors.ts';
import type { Envelope } from '../route/render-error.ts';

type Known = { readonly method: string; readonly path: string; readonly envelope: Envelope };

export type UnknownRoute = {
  readonly envelope: Envelope;
  /** Returns the refusal. Searches the routes, so call it only when the refusal is really sent. */
  readonly refusal: () => ApiError;
};

/** Routes that clients of OpenAI and similar APIs call, each with the nearest route here. */
const KIN: Readonly<Record<string, string>> = {
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
 * Builds the refusal of a path that no route has, naming the route of the same method that was probably meant. Clients of
 * OpenAI's API read errors in its envelope alone, so every path under `/v1` is refused in that envelope, except paths of a
 * family that has another envelope throughout, such as `/v1/developer` or `/v1/messages`. A path whose `/v1` was forgotten is
 * refused in the same way.
 */
export function createUnknownRoute(routes: readonly Known[]) {
  const known = routes.map((route) => ({ ...route, segments: segmentsOf(route.path) }));
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
      if (foreign !== undefined) return requestErrors.notFound(foreign);
      const meant = meantBy(known, method, path);
      const hint = meant ? `did you mean ${meant.method} ${meant.path}?` : ALL_ROUTES;
      const asked = `${method} ${shownPath(path).slice(0, HTTP_LIMITS.request.badPathChars)}`;
      return requestErrors.notFound(`There is no route ${asked}; ${hint}`);
    };
    return { envelope, refusal };
  };
}

/** Returns a path as an error shows it. Behind the URL of a voice platform, which has a token, the rest is hidden. */
const shownPath = (path: string): string =>
  path.replace(/(\/(?:call-end|pre-call)\/|^(?:\/v1)*\/webhooks\/[^/]*\/[^/]*\/).+$/i, '$1…');

/** Returns the path below `/v1` that was probably meant: the base is missing, or another base stands before it. */
function belowV1(path: string): string {
  const at = path.indexOf('/v1/');
  return at === -1 ? `/v1${path}` : path.slice(at);
}

const ALL_ROUTES = '/.well-known/openapi.yaml lists all routes.';

/** Returns the first two segments of a path, such as `/v1/developer`. */
const familyOf = (path: string): string => path.split('/', 3).join('/');

type Split = Known & { readonly segments: readonly string[] };

/** Returns the segments of a path. Trailing and doubled slashes make no segments. */
const segmentsOf = (path: string): readonly string[] => path.split('/').filter(Boolean);

/**
 * Returns the route of this method whose path takes the fewest edits: its path has the same number of segments, and each
 * segment differs by a slip at most. Undefined when there is none. A route of another method or another part of the API is
 * never meant.
 */
function meantBy(known: readonly Split[], method: string, path: string): Known | undefined {
  if (path.length > HTTP_LIMITS.request.badPathChars) return undefined;
  const wanted = method === 'HEAD' ? 'GET' : method;
  const asked = segmentsOf(path);
  // A base URL without its `/v1`, with another version or with one too many is the most usual mistake.
  const based = ['v1', ...asked.slice(asked.findLastIndex((word) => VERSION.test(word)) + 1)];
  const kin = KIN[`/${based.join('/')}`];
  const readings = [asked, based, ...(kin === undefined ? [] : [segmentsOf(kin)])];
  let meant: Known | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const route of known) {
    if (route.method !== wanted) continue;
    for (const reading of readings) {
      const cost = slipsOf(reading, route.segments);
      if (cost < least) [meant, least] = [route, cost];
    }
  }
  return meant;
}

const VERSION = /^v\d\w*$/i;

/** Returns the edits between two paths; infinite when a segment differs by more than a slip. */
function slipsOf(asked: readonly string[], wanted: readonly string[]): number {
  if (asked.length !== wanted.length) return Number.POSITIVE_INFINITY;
  let cost = 0;
  for (let i = 0; i < asked.length && cost !== Number.POSITIVE_INFINITY; i++) {
    cost += slipOf(asked[i] as string, wanted[i] as string);
  }
  return cost;
}

/** Matches ids, which have digits. The words of paths have none. */
const ID = /\d/;

/**
 * Returns the edits between two segments; infinite beyond a third of the letters of the shorter word. A parameter matches ids
 * alone.
 */
function slipOf(word: string, pattern: string): number {
  if (word === pattern) return 0;
  if (pattern.startsWith(':')) {
    return ID.test(word) && !VERSION.test(word) ? 0 : Number.POSITIVE_INFINITY;
  }
  const most = Math.min(word.length, pattern.length) / 3;
  if (Math.abs(word.length - pattern.length) > most) return Number.POSITIVE_INFINITY;
  const cost = editsOf(word, pattern);
  return cost > most ? Number.POSITIVE_INFINITY : cost;
}

/** Two rows of the edit-distance table, as long as the longest path that is compared. */
const rows = [0, 1].map(() => new Uint8Array(HTTP_LIMITS.request.badPathChars + 1)) as [
  Uint8Array,
  Uint8Array,
];

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
