import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../kernel/log.ts';

/** Writes the recording of one session. */
export interface TapeSink {
  /** Writes bytes. Returns false when a limit is reached or the file is broken; then only `end` may follow. */
  write(bytes: Uint8Array): boolean;
  /** Writes the last record. No call may follow. */
  end(bytes: Uint8Array): void;
}

export type TapeFolder = {
  /** Begins a recording. Returns undefined when the folder is full; the folder is counted again for later sessions. */
  begin(sessionId: string): TapeSink | undefined;
};

const SUFFIX = '.tape';

const countTapes = async (directory: string): Promise<number> =>
  (await readdir(directory)).filter((name) => name.endsWith(SUFFIX)).length;

/**
 * Opens the folder of recordings, with one file per session that only this user may read. At most `files` files, including
 * older ones, of at most `bytes` each; `unwrittenBytes` bounds the bytes that a slow disk has not written.
 */
export async function openTapeFolder(options: {
  readonly directory: string;
  readonly log: Log;
  readonly limits: {
    readonly files: number;
    readonly bytes: number;
    readonly unwrittenBytes: number;
  };
}): Promise<TapeFolder> {
  const { directory, limits, log } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  let files = await countTapes(directory);
  /** Files that are being created and may be missing in a count of the folder. */
  const opening = new Set<WriteStream>();
  let isCounting = false;
  log.warn({ directory, files }, 'live sessions are recorded, with every word');

  /** Counts the files again, because the operator may have removed some. No recording begins during the count. */
  function recount(): void {
    if (isCounting) return;
    isCounting = true;
    const unseen = opening.size;
    countTapes(directory)
      .then((there) => {
        files = there + unseen;
      })
      .catch((err: unknown) => log.error({ err }, 'the recordings could not be counted'))
      .finally(() => {
        isCounting = false;
      });
  }

  return {
    begin(sessionId) {
      if (files >= limits.files) {
        recount();
        return undefined;
      }
      files++;
      if (files === limits.files) log.warn({ directory, files }, 'the recordings are complete');
      const path = join(directory, `${sessionId}${SUFFIX}`);
      // An existing file belongs to another recording and is not overwritten.
      const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
      let isBroken = false;
      let bytesLeft = limits.bytes;
      opening.add(file);
      file.once('open', () => opening.delete(file));
      file.on('error', (err) => {
        opening.delete(file);
        isBroken = true;
        log.error({ err, sessionId }, 'a session could not be recorded');
      });
      return {
        write(bytes) {
          bytesLeft -= bytes.length;
          if (isBroken || bytesLeft < 0 || file.writableLength > limits.unwrittenBytes)
            return false;
          file.write(bytes);
          return true;
        },
        end(bytes) {
          if (!isBroken) file.end(bytes);
        },
      };
    },
  };
}
