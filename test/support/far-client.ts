import { Worker } from 'node:worker_threads';

const THREAD = `
const { connect } = require('node:net');
const { parentPort, workerData: { port, bytes } } = require('node:worker_threads');
const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(Buffer.from(bytes)));
let received = '';
socket.setEncoding('latin1');
socket.on('data', (text) => {
  received += text;
  parentPort.postMessage({ received });
});
socket.on('error', () => {});
socket.on('close', () => parentPort.postMessage({ received, isClosed: true }));
`;

export type FarClient = {
  /** Resolves with everything received once it includes `text` or the connection is closed. */
  until(text: string): Promise<string>;
  /** Drops the connection. */
  leave(): Promise<void>;
};

/** A client in a thread of its own: it fills the buffers of the connection while the server reads them. */
export function farClient(port: number, bytes: Uint8Array): FarClient {
  const worker = new Worker(THREAD, { eval: true, workerData: { port, bytes } });
  return {
    until: (text) =>
      new Promise((resolve) => {
        worker.on('message', ({ received, isClosed }) => {
          if (isClosed === true || received.includes(text)) resolve(received);
        });
      }),
    leave: async () => void (await worker.terminate()),
  };
}
