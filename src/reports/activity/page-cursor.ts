import { reportErrors } from '../errors.ts';

/** Place of a row in a list that is sorted by time, then by rank, then by id, all descending. */
export type Position = {
  /** Microseconds since the Unix epoch. */
  readonly atMicros: bigint;
  /** Place of the row's source among the sources of the list. */
  readonly rank: number;
  /** Digits for sources whose ids are numbers. */
  readonly id: string;
};

const CURSOR = /^(\d{1,16}) (\d) (n[1-9]\d{0,17}|t[^\0]{1,300})$/su;

/** Returns the cursor of the page that begins after this position. */
export const cursorAt = ({ atMicros, id, rank }: Position, hasNumber: boolean): string =>
  Buffer.from(`${atMicros} ${rank} ${hasNumber ? 'n' : 't'}${id}`).toString('base64url');

/** Reads a cursor. Throws the refusal of a text that `cursorAt` has not returned. */
export function readCursor(text: string, hasNumber: (rank: number) => boolean): Position {
  const plain = Buffer.from(text, 'base64url').toString('utf8');
  const [, atMicros, rank, id] = CURSOR.exec(plain) ?? [];
  const isCanonical = Buffer.from(plain).toString('base64url') === text;
  if (!isCanonical || atMicros === undefined || id === undefined) {
    throw reportErrors.invalidCursor();
  }
  if (hasNumber(Number(rank)) !== id.startsWith('n')) throw reportErrors.invalidCursor();
  return { atMicros: BigInt(atMicros), rank: Number(rank), id: id.slice(1) };
}
