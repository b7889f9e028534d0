import type { WebSocketBehavior } from 'uWebSockets.js';
import { loadUws } from '../src/http/server/uws.ts';

const CREATED = '{"type":"session.created","session":{"id":"sess_0"}}';
const CLOSE_STREAM = Buffer.from('{"type":"CloseStream"}');

/** A reply to one frame of a session: all that it makes its upstream say. */
export type Answer = (frame: Buffer, isBinary: boolean) => readonly (string | Buffer)[];

/**
 * An upstream of live sessions in this process, which greets where its protocol does, answers every frame at once, and
 * ends a stream that is over.
 */
export async function openLiveUpstream(
  answer: Answer,
): Promise<Disposable & { readonly port: number }> {
  const uws = loadUws();
  const behavior: WebSocketBehavior<unknown> = {
    maxPayloadLength: 1024 * 1024,
    maxBackpressure: 16 * 1024 * 1024,
    message(socket, data, isBinary) {
      const frame = Buffer.from(data);
      for (const text of answer(frame, isBinary)) socket.send(text, false);
      if (frame.equals(CLOSE_STREAM)) socket.end(1000);
    },
  };
  const app = uws
    .App()
    .ws('/v1/realtime', { ...behavior, open: (socket) => void socket.send(CREATED, false) })
    .ws('/v1/listen', behavior);
  return new Promise((resolve) => {
    app.listen('127.0.0.1', 0, (socket) =>
      resolve({
        port: uws.us_socket_local_port(socket as never),
        [Symbol.dispose]: () => uws.us_listen_socket_close(socket as never),
      }),
    );
  });
}
