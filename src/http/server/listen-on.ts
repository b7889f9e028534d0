import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import type { UwsModule } from './uws.ts';

/** Thrown when the port cannot be listened on. The message names the port. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export type ListeningSocket = { readonly port: number; stop(): void };

/** Signature of the library's `listen` with four arguments. The library's own types know three at most. */
type ListenExclusively = (
  host: string,
  port: number,
  options: number,
  callback: (token: us_listen_socket | false) => void,
) => unknown;

/**
 * Listens on the port, or on a port of the system's choice for 0. Listens exclusively, because by the library's default a
 * second process may share the port and take half of the connections. Rejects with a `ListenError` when the port is taken.
 */
export function listenOn(
  uws: UwsModule,
  app: TemplatedApp,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<ListeningSocket> {
  const listen = app.listen.bind(app) as unknown as ListenExclusively;
  return new Promise((resolve, reject) => {
    listen(host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (token) => {
      if (!token) {
        reject(new ListenError(`${host}:${port} cannot be listened on; is it in use?`));
        return;
      }
      resolve({
        port: uws.us_socket_local_port(token as never),
        stop: () => uws.us_listen_socket_close(token),
      });
    });
  });
}
