import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import type { UwsModule } from './uws.ts';

/** The port could not be had; the message names it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export type ListeningSocket = { readonly port: number; stop(): void };

/** The library takes four arguments here, though its types know three at most. */
type ListenExclusively = (
  host: string,
  port: number,
  options: number,
  callback: (token: us_listen_socket | false) => void,
) => unknown;

/**
 * Listens, on a port of the system's choice for 0. Exclusive, because the library's default lets a
 * second process share the port and take half. Rejects with a `ListenError` when it is taken.
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
