import { Packr } from 'msgpackr';
import type { SessionHoldOwner } from '../billing/session-hold.ts';

/** Start of the recorded session: seed, clocks and input. */
export type TapeHeader = {
  /** Seed of all random values of the session. */
  readonly seed: Uint8Array;
  /** Time when the session began: since the Unix epoch, and on the monotonic clock of the tape. */
  readonly epochMs: number;
  readonly monotonicMs: number;
} & TapedInput;

/** Input of a recorded session as plain data. Its other members are known to the code of its kind, which also replays it. */
export type TapedInput = {
  readonly kind: string;
  readonly input: { readonly owner: SessionHoldOwner };
};

export type Failure = {
  readonly name: string;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly code?: string | undefined;
  readonly cause?: Failure | undefined;
};

/** An input of the session from outside, with its time. Everything else in a session follows from its arrivals. */
export type Arrival =
  | readonly ['in', atMs: number, method: string, args: readonly unknown[]]
  | readonly ['timer', atMs: number, timer: number]
  | readonly ['result', atMs: number, call: number, kind: 'value' | 'live', value: unknown]
  | readonly ['failed', atMs: number, call: number, failure: Failure]
  | readonly ['heard', atMs: number, channel: number, method: string, args: readonly unknown[]];

/** A synchronous result: the value of a member (`part`: an object with methods), or the result of a call. */
export type RecordedAnswer =
  | readonly ['get', path: string, value: unknown]
  | readonly ['part', path: string]
  | readonly ['call', path: string, kind: 'value', value: unknown]
  | readonly ['call', path: string, kind: 'later', call: number]
  | readonly ['call', path: string, kind: 'live' | 'pieces']
  | readonly ['call', path: string, kind: 'thrown', failure: Failure];

export type SentRecord = readonly ['out', path: string, args: readonly unknown[]];

/** `full` means that the session continued when the tape was full. */
export type End = readonly ['end', 'settled' | 'full'];

export type TapeRecord = Arrival | RecordedAnswer | SentRecord | End;

const MAGIC = Buffer.from('voice-tape 3\n');
const LENGTH_BYTES = 4;

const packr = new Packr({ moreTypes: true, useRecords: false });

export const encodeHeader = (header: TapeHeader): Buffer =>
  Buffer.concat([MAGIC, encodeRecord(header)]);

/** Encodes one record: its length in four bytes, then the record in msgpackr's format. */
export function encodeRecord(record: TapeHeader | TapeRecord): Buffer {
  const packed = packr.pack(record);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(packed.length);
  return Buffer.concat([length, packed]);
}

/** Thrown for a file that is no tape or is incomplete. The message contains the position at which it ends. */
class TapeError extends Error {
  override readonly name = 'TapeError';
}

export type Tape = {
  readonly header: TapeHeader;
  readonly arrivals: readonly Arrival[];
  readonly answers: readonly RecordedAnswer[];
  readonly sent: readonly SentRecord[];
  readonly isFull: boolean;
};

/** Parses a whole tape. Throws TapeError when the bytes are cut short or are no tape. */
export function readTape(bytes: Buffer): Tape {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new TapeError('This is no recording of a session, or one of another format.');
  }
  const [header, ...records] = recordsOf(bytes);
  const end = records.at(-1) as TapeRecord | undefined;
  if (header === undefined || end?.[0] !== 'end') {
    const whole = `${records.length} whole records`;
    throw new TapeError(`The recording has no end: it breaks off after ${whole}.`);
  }
  const of = <T extends TapeRecord>(...kinds: T[0][]): T[] =>
    (records as TapeRecord[]).filter((record): record is T => kinds.includes(record[0]));
  return {
    header: header as TapeHeader,
    arrivals: of<Arrival>('in', 'timer', 'result', 'failed', 'heard'),
    answers: of<RecordedAnswer>('get', 'part', 'call'),
    sent: of<SentRecord>('out'),
    isFull: end[1] === 'full',
  };
}

function recordsOf(bytes: Buffer): unknown[] {
  const records: unknown[] = [];
  for (let at = MAGIC.length; at < bytes.length; ) {
    const from = at + LENGTH_BYTES;
    const to = from <= bytes.length ? from + bytes.readUInt32BE(at) : Number.POSITIVE_INFINITY;
    if (to > bytes.length) {
      throw new TapeError(
        `The recording is cut short: record ${records.length} begins at byte ${at} and has no end.`,
      );
    }
    try {
      records.push(packr.unpack(bytes.subarray(from, to)));
    } catch (error) {
      const where = `record ${records.length} at byte ${at}`;
      throw new TapeError(`The recording cannot be read: ${where} is no record.`, { cause: error });
    }
    at = to;
  }
  return records;
}
