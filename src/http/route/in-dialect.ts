import type { AnyRoute } from './route.ts';

/**
 * Returns true for clients of Anthropic's API, which demands this header of every request; clients of other APIs do not send
 * it.
 */
export const isAnthropicClient = (headers: ReadonlyMap<string, string>): boolean =>
  headers.has('anthropic-version');

/** Returns the route with the envelope of the client's dialect. */
export const inDialect = (route: AnyRoute, headers: ReadonlyMap<string, string>): AnyRoute =>
  route.alsoAnthropic === true && isAnthropicClient(headers)
    ? { ...route, envelope: 'anthropic' }
    : route;
