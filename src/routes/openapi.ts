import { ok, route } from '../http/route/route.ts';
import type { ApiDescription } from '../http/server/api-description.ts';

/** The description of every route, made from the same table that serves them. */
export const openapi = route<{ apiDescription: ApiDescription }>()({
  method: 'GET',
  path: '/.well-known/openapi.yaml',
  credential: 'none',
  summary: 'This description',

  handle: ({ services }) =>
    ok(services.apiDescription.yaml(), {
      'content-type': 'application/yaml; charset=utf-8',
      'cache-control': 'public, max-age=300',
    }),
});
