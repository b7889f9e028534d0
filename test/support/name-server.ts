import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';

export type NameServer = AsyncDisposable & {
  readonly address: string;
  /** Every question, as `A host` or `AAAA host`. */
  readonly asked: readonly string[];
};

const TYPES: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA' };

const bytesOf = (address: string): Buffer =>
  isIPv4(address)
    ? Buffer.from(address.split('.').map(Number))
    : Buffer.from(
        address
          .split(':')
          .map((group) => group.padStart(4, '0'))
          .join(''),
        'hex',
      );

/**
 * Answers questions over UDP with what `answer` says: addresses (IPv6 ones in full), the name of a failure, or nothing
 * at all.
 */
export async function startNameServer(
  answer: (type: string, host: string) => readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | undefined,
): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const end = at + 5;
    const type = TYPES[question.readUInt16BE(at + 1)] ?? '?';
    const host = labels.join('.');
    asked.push(`${type} ${host}`);
    const said = answer(type, host);
    if (said === undefined) return;
    const code = said === 'NXDOMAIN' ? 3 : said === 'SERVFAIL' ? 2 : 0;
    const addresses = typeof said === 'string' ? [] : said;
    const head = Buffer.alloc(12);
    question.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((address) => {
      const bytes = bytesOf(address);
      const record = Buffer.from([
        0xc0,
        12,
        0,
        bytes.length === 4 ? 1 : 28,
        0,
        1,
        0,
        0,
        0,
        0,
        0,
        bytes.length,
      ]);
      return Buffer.concat([record, bytes]);
    });
    socket.send(
      Buffer.concat([head, question.subarray(12, end), ...records]),
      from.port,
      from.address,
    );
  });
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    [Symbol.asyncDispose]: () => new Promise((done) => socket.close(() => done())),
  };
}
