import { type OggPacket, OggPages } from './ogg-pages.ts';

/** Rate of Opus granule positions, which does not depend on the input's rate. */
const GRANULE_HZ = 48_000;
const VENDOR = 'svc';

/**
 * Writes mono Opus in Ogg (RFC 7845). The first page names the codec, the second holds no comments, and the sound follows from
 * the third. The last page states the end of the sound, so that the padding of the last packet is not played.
 */
export class OggOpusWriter {
  readonly #pages: OggPages;
  readonly #preSkip: number;
  readonly #inputHz: number;
  #granule = 0;

  /** `lookahead` is the number of samples, at `inputHz`, by which the encoder lags behind its input. */
  constructor(sound: {
    readonly inputHz: number;
    readonly lookahead: number;
    readonly serial: number;
  }) {
    this.#pages = new OggPages(sound.serial);
    this.#inputHz = sound.inputHz;
    this.#preSkip = this.#atGranuleRate(sound.lookahead);
  }

  head(): Uint8Array {
    const id = Buffer.alloc(19);
    id.write('OpusHead', 'latin1');
    id[8] = 1;
    id[9] = 1;
    id.writeUInt16LE(this.#preSkip, 10);
    id.writeUInt32LE(this.#inputHz, 12);
    const tags = Buffer.alloc(8 + 4 + VENDOR.length + 4);
    tags.write('OpusTags', 'latin1');
    tags.writeUInt32LE(VENDOR.length, 8);
    tags.write(VENDOR, 12, 'latin1');
    return Buffer.concat([
      this.#pages.write([{ bytes: id, granule: 0 }]),
      this.#pages.write([{ bytes: tags, granule: 0 }]),
    ]);
  }

  /** Returns the pages for packets of `samples` samples each, counted at the input's rate. */
  sound(packets: readonly Uint8Array[], samples: number): Uint8Array {
    return this.#pages.write(packets.map((bytes) => this.#packet(bytes, samples)));
  }

  /** Returns the pages with the last packets. `totalSamples` counts all audio without the padding at its end. */
  end(packets: readonly Uint8Array[], samples: number, totalSamples: number): Uint8Array {
    const end = this.#preSkip + this.#atGranuleRate(totalSamples);
    const last = packets.map((bytes) => {
      const packet = this.#packet(bytes, samples);
      return { ...packet, granule: Math.min(packet.granule, end) };
    });
    return this.#pages.write(last, { ends: true });
  }

  #packet(bytes: Uint8Array, samples: number): OggPacket {
    this.#granule += this.#atGranuleRate(samples);
    return { bytes, granule: this.#granule };
  }

  #atGranuleRate = (samples: number): number => (samples * GRANULE_HZ) / this.#inputHz;
}
