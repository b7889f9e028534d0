import type { OpenedAnswer } from '../../src/models/providers/open-answer.ts';

/** An answer of these pieces; an error among them is thrown in its place. */
export function openedAnswer(...pieces: readonly (string | Uint8Array | Error)[]) {
  const told = { stops: 0 };
  const answer: OpenedAnswer = {
    status: 200,
    headers: {},
    body: (async function* () {
      for (const piece of pieces) {
        if (piece instanceof Error) throw piece;
        yield typeof piece === 'string'
          ? Buffer.from(piece)
          : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      }
    })(),
    stop: () => {
      told.stops++;
    },
  };
  return { answer, told };
}
