/**
 * Writes Ogg pages of one logical stream (RFC 3533). Packets are cut into segments of at most 255 bytes. Each page has a
 * number and a checksum; readers drop a page whose checksum is wrong.
 */
const HEAD_BYTES = 27;
const SEGMENT = 255;
const MAX_SEGMENTS = 255;
const FLAG = { begins: 2, ends: 4 } as const;

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit++) value = (value << 1) ^ (value < 0 ? 0x04c1_1db7 : 0);
  return value >>> 0;
});

function checksum(page: Uint8Array): number {
  let crc = 0;
  for (const byte of page) crc = ((crc << 8) ^ (CRC[(crc >>> 24) ^ byte] as number)) >>> 0;
  return crc;
}

const segmentsOf = (packet: Uint8Array): number => Math.floor(packet.length / SEGMENT) + 1;

export type OggPacket = {
  readonly bytes: Uint8Array;
  /** Position in the sound at the end of this packet, in the units of the codec. */
  readonly granule: number;
};

/** Writes the pages of one logical stream in their order. */
export class OggPages {
  readonly #serial: number;
  #pages = 0;

  constructor(serial: number) {
    this.#serial = serial;
  }

  /** Returns whole packets on as few pages as possible. `ends` marks the stream's last page. A packet must be below 64 KB. */
  write(packets: readonly OggPacket[], { ends = false } = {}): Uint8Array {
    const pages: Uint8Array[] = [];
    for (let at = 0; at < packets.length; ) {
      const first = at;
      for (let room = MAX_SEGMENTS; at < packets.length; at++) {
        room -= segmentsOf((packets[at] as OggPacket).bytes);
        if (room < 0 && at > first) break;
      }
      pages.push(this.#page(packets.slice(first, at), ends && at === packets.length));
    }
    return Buffer.concat(pages);
  }

  #page(packets: readonly OggPacket[], isLast: boolean): Uint8Array {
    const lacing = packets.flatMap(({ bytes }) => [
      ...Array.from({ length: segmentsOf(bytes) - 1 }, () => SEGMENT),
      bytes.length % SEGMENT,
    ]);
    const head = Buffer.alloc(HEAD_BYTES);
    head.write('OggS', 'latin1');
    head[5] = (this.#pages === 0 ? FLAG.begins : 0) | (isLast ? FLAG.ends : 0);
    head.writeBigUInt64LE(BigInt(packets.at(-1)?.granule ?? 0), 6);
    head.writeUInt32LE(this.#serial, 14);
    head.writeUInt32LE(this.#pages++, 18);
    head[26] = lacing.length;
    const page = Buffer.concat([head, Buffer.from(lacing), ...packets.map(({ bytes }) => bytes)]);
    page.writeUInt32LE(checksum(page), 22);
    return page;
  }
}
