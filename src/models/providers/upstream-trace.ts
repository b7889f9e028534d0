import { AsyncLocalStorage } from 'node:async_hooks';

type Headers = Readonly<Record<string, string>>;

const current = new AsyncLocalStorage<Headers>();

/**
 * Adds the headers to the upstream requests that `work` makes, for servers that let upstreams continue their traces. Node.js
 * tracks async contexts only after the first such call.
 */
export const withTraceHeaders = <T>(headers: Headers, work: () => T): T =>
  current.run(headers, work);

/** Returns the headers that the current attempt adds. Undefined when it adds none. */
export const traceHeadersNow = (): Headers | undefined => current.getStore();
