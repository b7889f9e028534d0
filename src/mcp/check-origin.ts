import { mcpErrors } from './errors.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Returns a check that refuses requests of web pages, except pages of this server and of this machine. The protocol requires
 * it, so that no page reaches a server by giving its own name the server's address. Programs send no Origin.
 */
export function createCheckOrigin(publicOrigin: string | undefined) {
  const own = publicOrigin === undefined ? undefined : new URL(publicOrigin).origin;
  return (origin: string | undefined): void => {
    if (origin === undefined) return;
    const url = URL.canParse(origin) ? new URL(origin) : undefined;
    if (url === undefined || !(url.origin === own || LOOPBACK.has(url.hostname))) {
      throw mcpErrors.foreignOrigin();
    }
  };
}
