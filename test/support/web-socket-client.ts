import { createHash } from 'node:crypto';
import WebSocket from 'ws';
import { RawSocket } from './raw-socket.ts';

export type Closed = { readonly code: number; readonly reason: string };

export const describeClosed = ({ code, reason }: Closed): string =>
  `closed ${code}${reason === '' ? '' : ` ("${reason}")`}`;

/** A well-behaved client that remembers what it heard. */
export class TestSocket {
  readonly ws: WebSocket;
  readonly texts: string[] = [];
  readonly binaries: Buffer[] = [];
  readonly closed: Promise<Closed>;

  constructor(
    url: string,
    protocols: string[] = [],
    headers: Record<string, string> = {},
    ca?: string,
  ) {
    this.ws = new WebSocket(url, protocols, { headers, ca, perMessageDeflate: false });
    this.ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.binaries.push(data);
      else this.texts.push(data.toString());
    });
    let failure = '';
    this.ws.on('error', ({ message }) => {
      failure = message;
    });
    this.closed = new Promise((resolve) => {
      this.ws.on('close', (code, reason) =>
        resolve({ code, reason: reason.toString() || failure }),
      );
    });
  }

  opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.ws.once('open', resolve);
      this.ws.once('unexpected-response', (_, answer) => {
        reject(new Error(`refused ${answer.statusCode}`));
      });
      this.ws.once('error', reject);
    });
  }
}

/** The plain HTTP answer to an upgrade that was refused. */
export function refusal(
  url: string,
  protocols: string[] = [],
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Record<string, unknown>; body: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url, protocols, { headers });
    ws.on('error', () => {});
    ws.on('open', () => {
      ws.terminate();
      reject(new Error('the upgrade was not refused'));
    });
    ws.on('unexpected-response', (_, answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: JSON.parse(text) as Record<string, unknown>,
        }),
      );
    });
  });
}

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** Upgrades by hand, so that the frames after it may be anything. */
export async function rawUpgrade(
  port: number,
  path: string,
  headers: readonly string[] = [],
): Promise<RawSocket> {
  const socket = await RawSocket.open(port);
  socket.send(
    [
      `GET ${path} HTTP/1.1`,
      'Host: localhost',
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${KEY}`,
      ...headers,
      '',
      '',
    ].join('\r\n'),
  );
  const accept = createHash('sha1')
    .update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  await socket.until((text) => text.includes(accept) && text.includes('\r\n\r\n'));
  return socket;
}

/** One masked frame; `first` is the byte with FIN, RSV and opcode. */
export const frame = (first: number, payload: Uint8Array): Buffer =>
  // A mask of zeros leaves the payload as it is.
  Buffer.concat([frameHead(first, payload.byteLength), Buffer.alloc(4), payload]);

/** What goes before the mask of a frame of so many bytes, in the shortest spelling. */
export function frameHead(first: number, length: number): Buffer {
  if (length < 126) return Buffer.of(first, 0x80 | length);
  if (length < 65_536) return Buffer.of(first, 0x80 | 126, length >> 8, length & 0xff);
  const head = Buffer.alloc(10);
  head.set([first, 0x80 | 127]);
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}
