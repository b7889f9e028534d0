import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { routesPage } from '../../../src/app/commands/docs/routes-page.ts';
import { ROUTES } from '../../../src/routes/index.ts';
import { EVENT_KINDS } from '../../../src/webhooks/catalogue.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const NOT_SERVED = 'docs/api-behaviour/not-served.md';

const filesBelow = (folder: string, ending: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Pages of what is. A decision may name what was rejected. */
const PAGES = [
  'README.md',
  'media/README.md',
  ...filesBelow('docs', '.md').filter((path) => !path.startsWith('docs/decisions/')),
];

const SOCKETS = ['src/sockets', 'src/protocols']
  .flatMap((folder) => filesBelow(folder, '.ts'))
  .flatMap((file) =>
    [...read(file).matchAll(/path: '(\/v\d\/[^']+)'/g)].map(([, path = '']) => `GET ${path}`),
  );
const SERVED = [
  ...ROUTES.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
  ...SOCKETS,
];

/** `GET /v1/x?a=b`, `POST …/x/{id}` and bare `/v1/x/…` of a text. */
const NAMED = /(?:\b(GET|POST|PUT|PATCH|DELETE) )?((?:\/v\d|…)?\/[\w./{}<>:…*-]+)/g;

/** Whether a segment of a page stands for a segment of a route: the same, or a value in place of a parameter. */
const fits = (said: string, own: string | undefined): boolean =>
  own !== undefined && (said === own || own.startsWith('{') || /^[{<…*]/.test(said));

function isServed(method: string | undefined, text: string): boolean {
  const path = text.replace(/[.:…/*]+$/, '');
  const said = path.split('/').filter((segment) => segment !== '' && segment !== '…');
  return SERVED.some((route) => {
    const [ownMethod, ownPath = ''] = route.split(' ');
    if (method !== undefined && method !== ownMethod) return false;
    const own = ownPath.split('/').filter((segment) => segment !== '');
    const start = text.startsWith('…') ? own.length - said.length : 0;
    const isWhole = method === undefined || own.length - start === said.length;
    return start >= 0 && isWhole && said.every((segment, i) => fits(segment, own[start + i]));
  });
}

/** Routes of others: a collector of traces. */
const FOREIGN = ['/v1/traces'];

/** The routes that a page names, of this server's interface alone. */
const namedRoutes = (text: string) =>
  [...text.matchAll(NAMED)]
    .map(([, method, path = '']) => ({ method, path: path.split('?')[0] ?? '' }))
    .filter(
      ({ method, path }) => /^\/v\d\//.test(path) || (method !== undefined && path[0] === '…'),
    );

const unserved = (text: string) =>
  namedRoutes(text)
    .filter(({ method, path }) => !isServed(method, path) && !FOREIGN.includes(path))
    .map(({ method = '', path }) => `${method} ${path}`.trim());

const EVENT =
  /`((?:loan|agent|key|provider_key|credit|call|phone|marketplace|webhook|x402)\.[a-z_.]+[a-z*])`/g;
const EVENTS: readonly string[] = [...EVENT_KINDS.map(({ name }) => name), 'webhook.deactivated'];
const unknownEvents = (text: string) =>
  [...text.matchAll(EVENT)]
    .map(([, name = '']) => name)
    .filter((name) => !/\.(ts|mjs|md)$/.test(name))
    .filter((name) => !EVENTS.includes(name))
    .filter((name) => !EVENTS.some((event) => event.startsWith(name.replace(/\*$/, ''))));

describe('the documentation', () => {
  it('the documentation has the page of routes and events that `npm run docs:routes` writes', () => {
    expect(read('docs/routes.md')).toBe(routesPage());
  });

  it('every route that the documentation names is served', () => {
    const pages = PAGES.filter((path) => path !== NOT_SERVED);
    const wrong = pages.flatMap((path) => unserved(read(path)).map((name) => `${path}: ${name}`));
    expect(wrong).toEqual([]);
  });

  it('no route that the documentation calls not served is served', () => {
    const named = namedRoutes(read(NOT_SERVED));
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter(({ method, path }) => isServed(method, path))).toEqual([]);
  });

  it('every event that the documentation names exists', () => {
    const wrong = PAGES.flatMap((path) =>
      unknownEvents(read(path)).map((name) => `${path}: ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  it('no page of the documentation speaks of what a later version will have', () => {
    const later =
      /not in this version|server does not yet|not (delivered|served) yet|wait for the telephone/i;
    expect(PAGES.filter((path) => later.test(read(path)))).toEqual([]);
  });
});

describe('the check of routes and events', () => {
  it('the check of routes and events finds a wrong method, a wrong path and a wrong event', () => {
    expect(unserved('`GET /v1/proxy/fetch` `POST /v1/proxy/fetch?x=1`')).toEqual([
      'GET /v1/proxy/fetch',
    ]);
    expect(
      unserved('`/v1/agent/balance`, `/v1/agents/…` and `POST …/keys/{keyId}/rotate`'),
    ).toEqual(['/v1/agent/balance']);
    expect(unknownEvents('`call.begun` `call.*` `call.started`')).toEqual(['call.begun']);
  });
});
