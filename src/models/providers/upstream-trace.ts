import { AsyncLocalStorage } from 'node:async_hooks';

type Headers = Readonly<Record<string, string>>;

const current = new AsyncLocalStorage<Headers>();

/**
 * Adds these headers to the requests that `work` makes of upstreams. For a server whose operator lets upstreams continue
 * its traces: where nothing is ever run like this, Node.js does not track anything for it.
 */
export const withTraceHeaders = <T>(headers: Headers, work: () => T): T =>
  current.run(headers, work);

/** The headers that the attempt in progress adds. Undefined: none. */
export const traceHeadersNow = (): Headers | undefined => current.getStore();
