import { loadUws } from '../src/http/server/uws.ts';
import type { createLateness } from './lateness.ts';

/** Opens a socket that sends every message back, and does nothing else with it. Resolves to its port. */
export async function openBareEcho(
  path: string,
  lateness: Pick<ReturnType<typeof createLateness>, 'workedOff'>,
): Promise<number> {
  const uws = loadUws();
  const app = uws.App().ws(path, {
    maxPayloadLength: 1024 * 1024,
    maxBackpressure: 1024 * 1024,
    message(client, data, isBinary) {
      client.send(data, isBinary);
      lateness.workedOff(new Uint8Array(data));
    },
  });
  return new Promise((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(uws.us_socket_local_port(socket as never)));
  });
}
