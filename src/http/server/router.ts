/**
 * Finds the route of a path. Case and trailing slashes matter; a parameter matches one whole segment. The last parameter of a
 * route with `endsInId` matches all segments from there on, since an id may have slashes.
 */

export type Matched<T> = {
  readonly byMethod: ReadonlyMap<string, T>;
  /** Parameter values as received, still percent-encoded. */
  readonly rawParams: readonly (readonly [name: string, value: string])[];
};

export type Routable = {
  readonly method: string;
  readonly path: string;
  readonly endsInId?: boolean | undefined;
};

type Pattern<T> = {
  readonly segments: readonly string[];
  readonly byMethod: Map<string, T>;
};

export interface Router<T> {
  find(path: string): Matched<T> | undefined;
}

/** Prefixes that SDKs put before the same paths: groq-sdk, and OpenAI's SDK as set up for Gemini. */
const PREFIXES = ['/openai/v1/', '/v1beta/openai/'];

/** Returns the path behind a vendor's prefix, under `/v1`. Undefined when the path has no vendor's prefix. */
function withoutPrefix(path: string): string | undefined {
  const prefix = PREFIXES.find((known) => path.startsWith(known));
  return prefix && `/v1/${path.slice(prefix.length)}`;
}

/** Builds a router. Two routes of the same method and shape are a mistake and throw. */
export function createRouter<T extends Routable>(routes: readonly T[]): Router<T> {
  const fixed = new Map<string, Matched<T>>();
  const patterns = new Map<number, Pattern<T>[]>();
  const rests: Pattern<T>[] = [];

  for (const route of routes) {
    const byMethod = route.path.includes('/:')
      ? patternFor(patterns, route.path)
      : (fixed.get(route.path)?.byMethod as Map<string, T> | undefined);
    const target = byMethod ?? new Map<string, T>();
    if (byMethod === undefined) fixed.set(route.path, { byMethod: target, rawParams: [] });
    if (target.has(route.method))
      throw new Error(`two routes answer ${route.method} ${route.path}`);
    target.set(route.method, route);
    if (route.endsInId === true) {
      rests.push({ segments: route.path.split('/'), byMethod: new Map([[route.method, route]]) });
    }
  }

  const find = (path: string): Matched<T> | undefined => {
    const exact = fixed.get(path);
    if (exact !== undefined) return exact;
    const segments = path.split('/');
    const candidates = patterns.get(segments.length);
    const matched = matchPattern(candidates ?? [], segments) ?? matchRest(rests, path);
    if (matched !== undefined) return matched;
    const inner = withoutPrefix(path);
    return inner === undefined ? undefined : find(inner);
  };
  return { find };
}

/**
 * Returns the verbs of a path's pattern, and adds the pattern when it is new. Throws when another path of the same shape spells
 * its parameters otherwise.
 */
function patternFor<T>(patterns: Map<number, Pattern<T>[]>, path: string): Map<string, T> {
  const segments = path.split('/');
  const shape = (parts: readonly string[]) =>
    parts.map((part) => (part.startsWith(':') ? ':' : part)).join('/');
  const sameLength = patterns.get(segments.length) ?? [];
  patterns.set(segments.length, sameLength);

  const known = sameLength.find((pattern) => pattern.segments.join('/') === path);
  if (known !== undefined) return known.byMethod;
  const alike = sameLength.find((pattern) => shape(pattern.segments) === shape(segments));
  if (alike !== undefined) {
    throw new Error(`${path} names its parameters unlike ${alike.segments.join('/')}`);
  }

  const pattern = { segments, byMethod: new Map<string, T>() };
  sameLength.push(pattern);
  // A literal segment beats a parameter in the same place: `/keys/self` before `/keys/:id`.
  sameLength.sort((a, b) => (rank(a.segments) < rank(b.segments) ? -1 : 1));
  return pattern.byMethod;
}

const rank = (segments: readonly string[]) =>
  segments.map((segment) => (segment.startsWith(':') ? '1' : '0')).join('');

function matchPattern<T>(
  candidates: readonly Pattern<T>[],
  segments: readonly string[],
): Matched<T> | undefined {
  for (const { segments: wanted, byMethod } of candidates) {
    const rawParams: [string, string][] = [];
    const fits = wanted.every((part, index) => {
      const value = segments[index] ?? '';
      if (!part.startsWith(':')) return part === value;
      rawParams.push([part.slice(1), value]);
      return value !== '';
    });
    if (fits) return { byMethod, rawParams };
  }
  return undefined;
}

/** Matches a route whose id may have slashes: the rest of the path is one value. */
function matchRest<T>(rests: readonly Pattern<T>[], path: string): Matched<T> | undefined {
  for (const { segments, byMethod } of rests) {
    const before = `${segments.slice(0, -1).join('/')}/`;
    const value = path.startsWith(before) ? path.slice(before.length) : '';
    if (value === '' || value.split('/').includes('')) continue;
    return { byMethod, rawParams: [[(segments.at(-1) ?? '').slice(1), value]] };
  }
  return undefined;
}
