import { RIGHTS } from '../../../accounts/developers/role.ts';
import type { Credential } from '../../../http/route/caller.ts';
import { type AnyRoute, rightOf } from '../../../http/route/route.ts';
import { ROUTES } from '../../../routes/index.ts';
import { EVENT_KINDS } from '../../../webhooks/catalogue.ts';

const INTRODUCTION = `# Routes and events

<!-- Written by \`npm run docs:routes\`. Change the routes or the catalogue of events and run that again. -->

Every route, by its first words, and every event that a webhook can subscribe to. \`GET /.well-known/openapi.yaml\` has the shapes
of both. The WebSockets are in [sockets.md](api-behaviour/sockets.md), and what is not served in
[not-served.md](api-behaviour/not-served.md).

| Credential | Is |
|---|---|
| agent | an agent key, \`Authorization: Bearer svc_…\` |
| management | a developer key \`svc_live_…\`, a wallet signature or a session |
| signature | a wallet signature |
| admin | \`X-Admin-Key\` |
| metrics | \`Authorization: Bearer\` with \`METRICS_TOKEN\`, or \`X-Admin-Key\` |
| any | any of them |
| carrier | the carrier's signature of the whole request |
| platform | the token in the path, and the voice platform's signature of the body |
| none | no credential |

The role is the weakest that a developer must have in the account: \`viewer\`, \`member\`, \`admin\` or \`owner\`, each with the rights
of those before it ([account.md](api-behaviour/account.md#roles)). A developer key has the role of the member who issued it.
`;

type Listed = Pick<AnyRoute, 'method' | 'path' | 'permission' | 'right' | 'summary'> & {
  readonly credential: Credential;
};

/** Returns the weakest role of developers that a route admits; empty for a route that admits no developer. */
const roleOf = (route: Listed): string =>
  route.credential === 'management' || route.credential === 'any' ? RIGHTS[rightOf(route)] : '';

/** Returns the heading of a route: its first two path parts, or the first three below `/v1/developer/` and `/v1/admin/`. */
const headingOf = ({ path }: Listed): string =>
  path.startsWith('/v1/developer/') || path.startsWith('/v1/admin/')
    ? path.split('/').slice(0, 4).join('/')
    : path.split('/').slice(0, 3).join('/');

/** Returns a path as the documentation writes it, with its parameters in braces. */
const documentedPath = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');

/** Returns the text of docs/routes.md. */
export function routesPage(): string {
  const byHeading = new Map<string, string[]>();
  for (const route of [...ROUTES].sort((a, b) => a.path.localeCompare(b.path, 'en'))) {
    const listed: Listed = route;
    const { credential, method, path, summary } = listed;
    const rows = byHeading.get(headingOf(route)) ?? [];
    rows.push(
      `| \`${method} ${documentedPath(path)}\` | ${credential} | ${roleOf(listed)} | ${summary} |`,
    );
    byHeading.set(headingOf(route), rows);
  }
  const grouped = [...byHeading].filter(([, rows]) => rows.length > 1);
  const alone = [...byHeading].flatMap(([, rows]) => (rows.length > 1 ? [] : rows));
  const sections = [...grouped, ['Others', alone] as const].map(
    ([heading, rows]) =>
      `\n## ${heading}\n\n| Route | Credential | Role | Does |\n|---|---|---|---|\n${rows.join('\n')}\n`,
  );
  const events = EVENT_KINDS.map(({ name, description }) => `| \`${name}\` | ${description} |\n`);
  return `${INTRODUCTION}${sections.join('')}\n## Events\n\n| Event | When |\n|---|---|\n${events.join('')}`;
}
