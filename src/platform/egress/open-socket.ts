import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../kernel/clock.ts';
import { SendFailed, type SendFailure } from './send-failed.ts';

export type SocketTarget = {
  /** Address that the socket connects to; no name is looked up. */
  readonly address: string;
  readonly origin: string;
  /** Certificates to trust in place of the system's. */
  readonly ca?: string | undefined;
};

/**
 * Connects to one address. For https, checks that its certificate is valid for the host. Rejects with SendFailed, nothing sent.
 */
export function openSocket(
  target: SocketTarget,
  bounds: { readonly ms: number; readonly signal: AbortSignal; readonly clock: Clock },
): Promise<Socket> {
  const { clock, signal } = bounds;
  return new Promise((resolve, reject) => {
    let connected = false;
    const socket = begin(target);
    const fail = (reason: SendFailure, cause?: unknown) => {
      finish();
      socket.destroy();
      reject(new SendFailed(reason, { beforeBytes: true, cause }));
    };
    const isTls = target.origin.startsWith('https:');
    const onError = (error: Error) => fail(connected && isTls ? 'tls' : 'unreachable', error);
    const onClose = () => onError(new Error('closed while connecting'));
    const onAbort = () => fail('aborted', signal.reason);
    const timer = clock.setTimeout(() => fail('timeout'), bounds.ms);
    function finish() {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.removeListener('error', onError).removeListener('close', onClose);
    }
    // This listener stays: an unhandled error event would end the process.
    socket.on('error', () => {});
    socket.once('error', onError).once('close', onClose);
    socket.once('connect', () => {
      connected = true;
    });
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      finish();
      resolve(socket);
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

function begin({ address, origin, ca }: SocketTarget): Socket {
  const { protocol, hostname, port } = new URL(origin);
  if (isIP(address) === 0) throw new Error('assertion failed: the address is not one');
  if (protocol === 'http:') {
    return connectTcp({ host: address, port: Number(port || 80), noDelay: true, keepAlive: true });
  }
  const name = hostname.startsWith('[') || isIP(hostname) !== 0 ? undefined : hostname;
  return connectTls({
    host: address,
    port: Number(port || 443),
    // Without a name the certificate is checked against the address, and no name is sent.
    ...(name === undefined ? {} : { servername: name }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    // Set explicitly, so that no environment variable turns the check off.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  })
    .setNoDelay(true)
    .setKeepAlive(true, 60_000);
}
