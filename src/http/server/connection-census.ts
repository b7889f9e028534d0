import { createReadStream } from 'node:fs';
import { networkOf } from '../route/client-address.ts';

export type Census = {
  /** Open connections at the port, by client network. */
  readonly open: ReadonlyMap<string, number>;
  /** Lines that the count read: every connection of this machine, including connections that ended lately. */
  readonly lines: number;
};

/** The kernel's tables of TCP connections, one for each family. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** Codes of the states that hold a descriptor of this process: established, and closed by the client alone. */
const HELD = new Set(['01', '08']);

/**
 * Counts the connections at a port of this machine, as the kernel lists them, by client network. Rejects where the
 * kernel keeps no such tables, which is everywhere but on Linux.
 */
export async function takeCensus(
  port: number,
  tables: readonly string[] = TABLES,
): Promise<Census> {
  const open = new Map<string, number>();
  let lines = 0;
  const localEnd = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const table of tables) {
    for await (const line of linesOf(table)) {
      lines += 1;
      const [, local, remote, state] = line.trim().split(/\s+/, 4);
      if (local?.endsWith(localEnd) !== true || remote === undefined) continue;
      if (state === undefined || !HELD.has(state)) continue;
      const network = networkOf(addressOf(remote.slice(0, remote.lastIndexOf(':'))));
      open.set(network, (open.get(network) ?? 0) + 1);
    }
  }
  return { open, lines };
}

/** Yields lines as they are read, so that other work runs between two pieces of a long table. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of createReadStream(path, 'latin1')) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

/** Returns the address in the kernel's spelling: each 32-bit word in hexadecimal, its lowest byte first. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    (word.match(/../g) ?? []).reverse().map((byte) => Number.parseInt(byte, 16)),
  );
  if (bytes.length === 4) return bytes.join('.');
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff;
  if (isMapped) return bytes.slice(12).join('.');
  const hextets = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  return hextets.join(':');
}
