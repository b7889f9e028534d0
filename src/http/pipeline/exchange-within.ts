import type { RouteCall } from '../route/route.ts';
import type { Exchange } from './exchange.ts';

/**
 * Headers that the inner request does not inherit: headers about the outer body, and the idempotency key of the outer request.
 */
const OUTER_ONLY = [
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'expect',
  'accept',
  'origin',
  'idempotency-key',
];

/**
 * Returns the exchange of a request to another route within a request that is being served. Keeps the outer request's
 * credential, address, request id, tags and provider key.
 */
export function exchangeWithin(outer: Exchange, call: RouteCall): Exchange {
  const { route, idempotencyKey, signal } = call;
  const headers = new Map(outer.request.headers);
  for (const name of OUTER_ONLY) headers.delete(name);
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
  return {
    request: {
      method: route.method,
      path: route.path,
      query: new URLSearchParams(call.query).toString(),
      headers,
      doubledHeader: undefined,
      framing: 'length',
    },
    route,
    rawParams: [],
    body: call.body === undefined ? undefined : { given: call.body, belongsTo: () => {} },
    requestId: outer.requestId,
    span: outer.span,
    clientAddress: outer.clientAddress,
    signal,
    onOver: outer.onOver,
    log: () => outer.log().child({ asked: route.path }),
  };
}
