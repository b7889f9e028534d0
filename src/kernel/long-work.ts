import { soon } from './clock.ts';

/** Bytes that are copied in one turn of the event loop. */
export const COPY_BYTES_PER_TURN = 1024 * 1024;

/** Pieces of work that wait for a turn: as many as there are requests with long work under way. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop that no other piece of long work has; the caller then does a piece of some milliseconds.
 * If pieces waited only for the next turn, all would share it, and four long requests would delay everything else four times as
 * long as one.
 */
export function turnForLongWork(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) soon(serve);
  });
}

function serve(): void {
  waiting.shift()?.();
  // The resolved request runs behind this callback, before the next `serve`.
  if (waiting.length > 0) soon(serve);
}

/** Joins pieces into one buffer. Copies more than `COPY_BYTES_PER_TURN` bytes over several turns of the event loop. */
export function joinPieces(pieces: readonly Uint8Array[]): Buffer | Promise<Buffer> {
  const [first = NO_BYTES] = pieces;
  if (pieces.length <= 1) return Buffer.from(first.buffer, first.byteOffset, first.byteLength);
  let bytes = 0;
  for (const piece of pieces) bytes += piece.byteLength;
  return bytes <= COPY_BYTES_PER_TURN ? Buffer.concat(pieces, bytes) : copied(pieces, bytes);
}

const NO_BYTES = new Uint8Array(0);

async function copied(pieces: readonly Uint8Array[], bytes: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  let inTurn = 0;
  for (const piece of [...pieces]) {
    for (let from = 0; from < piece.byteLength; from += COPY_BYTES_PER_TURN) {
      const part = piece.subarray(from, from + COPY_BYTES_PER_TURN);
      if (inTurn + part.byteLength > COPY_BYTES_PER_TURN) {
        await turnForLongWork();
        inTurn = 0;
      }
      whole.set(part, at);
      at += part.byteLength;
      inTurn += part.byteLength;
    }
  }
  return whole;
}
