import { ok, route } from '../http/route/route.ts';
import type { ApiDescription } from '../http/server/api-description.ts';

/** Describes every route in OpenAPI, generated from the table of routes that the server serves. */
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
