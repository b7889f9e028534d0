import type { TapeFolder } from '../../src/voice/live/tape-folder.ts';
import { readTape, type Tape } from '../../src/voice/recording/tape.ts';

export type MemoryTapes = TapeFolder & {
  /** The bytes of the only recording, ended or not. */
  bytes(): Buffer;
  tape(): Tape;
};

/** Recordings in memory, each of at most so many bytes. */
export function memoryTapes(mostBytes = Number.POSITIVE_INFINITY): MemoryTapes {
  const files: Buffer[][] = [];
  const bytes = () => {
    if (files.length !== 1) throw new Error(`${files.length} sessions were recorded`);
    return Buffer.concat(files[0] ?? []);
  };
  return {
    begin() {
      const file: Buffer[] = [];
      let left = mostBytes;
      files.push(file);
      return {
        write(record) {
          left -= record.length;
          if (left >= 0) file.push(Buffer.from(record));
          return left >= 0;
        },
        end: (record) => void file.push(Buffer.from(record)),
      };
    },
    bytes,
    tape: () => readTape(bytes()),
  };
}
