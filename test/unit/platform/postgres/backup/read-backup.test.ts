import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BackupPiece,
  readBackup,
} from '../../../../../src/platform/postgres/backup/read-backup.ts';

const HEAD = { format: 'svc-backup', version: 1, createdAt: 'today', migrations: ['a'] };

/** A backup as the writer makes it; a value may hold anything but a bare line feed. */
function backupOf(rows: readonly string[]): Buffer {
  const body = [
    JSON.stringify(HEAD),
    JSON.stringify({ table: 't', columns: ['c'] }),
    ...rows,
    '\\.',
    '',
  ].join('\n');
  const sha256 = createHash('sha256').update(body).digest('hex');
  const tail = { rows: { t: rows.length }, sequences: [], sha256 };
  return Buffer.from(`${body}${JSON.stringify(tail)}\n`);
}

async function read(bytes: Buffer, chunkBytes: number): Promise<BackupPiece[]> {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      yield bytes.subarray(at, at + chunkBytes);
    }
  }
  const pieces: BackupPiece[] = [];
  for await (const piece of readBackup(chunks())) pieces.push(piece);
  return pieces;
}

const rowsOf = (pieces: readonly BackupPiece[]) =>
  Buffer.concat(pieces.flatMap((piece) => (piece.kind === 'rows' ? [piece.bytes] : []))).toString();

/** COPY text escapes a backslash, so that no row is ever `\.`. */
const row = fc.string({ unit: fc.constantFrom('a', '\\\\', '.', '\t', '{', 'é') });

describe('reading a backup', () => {
  it('reading a backup gives back every row, wherever the chunks end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row), fc.integer({ min: 1, max: 90 }), async (rows, chunkBytes) => {
        const pieces = await read(backupOf(rows), chunkBytes);
        expect(rowsOf(pieces)).toBe(rows.map((line) => `${line}\n`).join(''));
        expect(pieces.at(-1)?.kind).toBe('tail');
      }),
    );
  });

  it('reading a backup that was cut off anywhere fails', async () => {
    const whole = backupOf(['1', '2']);
    for (let length = 0; length < whole.length; length++) {
      await expect(read(whole.subarray(0, length), 16), `${length} bytes`).rejects.toThrow();
    }
  });

  it('reading a backup with one changed byte fails or gives the same rows', async () => {
    const whole = backupOf(['12', '34']);
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const outcome = await read(changed, 4_096).then(
        (pieces) => rowsOf(pieces),
        () => 'refused',
      );
      // The tail's own counts are checked against the rows by the restore.
      expect(['refused', '12\n34\n']).toContain(outcome);
    }
  });

  it('reading a file that is no backup fails', async () => {
    await expect(read(Buffer.from('hello\n'), 64)).rejects.toThrow('not a backup');
    await expect(read(Buffer.from('{"format":"other"}\n'), 64)).rejects.toThrow('not a backup');
  });
});
