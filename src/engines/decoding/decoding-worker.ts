import { SoundRefused } from '../../../media/coded/packets.ts';
import { assert } from '../../kernel/assert.ts';
import { EngineInputRefused } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { serveWorker, type Transfer } from '../threads/worker-host.ts';
import type { ClosesStreams } from '../threads/worker-streams.ts';
import { type HeardBatch, HeardFile } from './heard-file.ts';

/** Streams are named by their client; each is one file. */
export type DecodingContract = {
  /** Opens a file and returns its first batch. */
  readonly open: {
    readonly in: { readonly stream: number; readonly bytes: Uint8Array; readonly statedMs: number };
    readonly out: HeardBatch;
  };
  readonly next: { readonly in: { readonly stream: number }; readonly out: HeardBatch };
} & ClosesStreams;

const files = new Map<number, HeardFile>();
const { complaints: mostComplaints } = ENGINE_LIMITS.decoding;
let complaints = 0;

// Decoders report damaged packets on the console. mpg123-decoder retries some errors forever; throwing ends its loop.
const complain = () => {
  if (++complaints > mostComplaints) throw new Error('the decoder complains without end');
};
Object.assign(console, { error: complain, warn: complain, log: complain });

async function batchOf(stream: number, transfer: Transfer): Promise<HeardBatch> {
  const heard = files.get(stream);
  if (heard === undefined) throw new Error('the decoder of this file is gone');
  complaints = 0;
  try {
    const batch = await heard.next();
    if (batch.isEnd) files.delete(stream);
    transfer(batch.pcm.buffer);
    return batch;
  } catch (error) {
    files.delete(stream);
    // Each stream has its own program, so a broken program is dropped together with its file.
    const reason =
      error instanceof SoundRefused ? error.message : 'The sound of the file cannot be decoded.';
    throw new EngineInputRefused(reason, 'file');
  }
}

serveWorker<DecodingContract>({
  open({ bytes, stream, statedMs }, transfer) {
    assert(files.size < ENGINE_LIMITS.decoding.files, 'the client bounds the files');
    files.set(stream, new HeardFile(Buffer.from(bytes.buffer), statedMs));
    return batchOf(stream, transfer);
  },
  next: ({ stream }, transfer) => batchOf(stream, transfer),
  close({ stream }) {
    files.delete(stream);
    return null;
  },
});
