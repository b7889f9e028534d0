import { createHash } from 'node:crypto';
import { requestErrors } from '../../http/route/errors.ts';
import { soon } from '../../kernel/clock.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { attributionErrors } from '../errors.ts';
import { SPEND_LIMITS } from '../limits.ts';
import { type Line, LineSplitter } from './line-splitter.ts';
import { type ReconciledRow, saveReconciled } from './reconciled-store.ts';
import { readLine, type SpendEvent } from './spend-event.ts';

export type LedgerSync = ReturnType<typeof createLedgerSync>;

/** Imports purchases that agents made elsewhere, for the reports alone: no balance moves and no policy applies. */
export function createLedgerSync({ sql }: { readonly sql: Sql }) {
  return {
    /**
     * Reads an upload line by line as it arrives and stores its events. The same upload again adds nothing. Nothing is written
     * before the end of the upload, so that an upload that is refused leaves nothing behind.
     */
    async sync(agentId: number, pieces: AsyncIterable<Uint8Array>) {
      const upload = new Upload();
      const splitter = new LineSplitter(SPEND_LIMITS.sync.lineBytes);
      for await (const piece of pieces) {
        for (const line of splitter.push(piece)) {
          upload.take(line);
          // This thread also sends live audio.
          if (upload.lines % SPEND_LIMITS.sync.linesPerTurn === 0) await new Promise<void>(soon);
        }
      }
      const last = splitter.end();
      if (last !== undefined) upload.take(last);
      if (!upload.hasReadableLine) throw requestErrors.invalid([NOTHING_READABLE]);

      const { rows, rejected } = upload;
      const synced = rows.length === 0 ? 0 : await saveReconciled(sql, agentId, rows);
      return { synced, duplicates: rows.length - synced, rejected };
    },
  };
}

const NOTHING_READABLE = {
  path: [],
  message: 'must have a JSON object on at least one line',
  code: 'no_readable_line',
};

/** The lines of one upload that were read up to now. */
class Upload {
  readonly rows: ReconciledRow[] = [];
  rejected = 0;
  hasReadableLine = false;
  /** Number of lines so far, blank lines included. */
  lines = 0;
  readonly #seen = new Map<string, number>();

  take(line: Line): void {
    this.lines += 1;
    const read =
      line === 'too_long' ? ({ kind: 'rejected', isReadable: false } as const) : readLine(line);
    if (read.kind === 'blank') return;
    if (this.rows.length + this.rejected === SPEND_LIMITS.sync.events) {
      throw attributionErrors.tooManyEvents(SPEND_LIMITS.sync.events);
    }
    this.hasReadableLine ||= read.kind === 'event' || read.isReadable;
    if (read.kind === 'event') this.rows.push({ ...read.event, digest: this.#digest(read.event) });
    else this.rejected += 1;
  }

  /**
   * Returns the key of an event. Equal lines of one upload are separate events: their ordinal number distinguishes them, and is
   * the same when the upload is repeated.
   */
  #digest(event: SpendEvent): string {
    const { promptTokens, completionTokens } = event;
    const content = JSON.stringify([
      event.atMicros,
      event.kind,
      event.modelOrTool,
      promptTokens,
      completionTokens,
      event.costRaw.toString(),
      event.label,
    ]);
    const digest = createHash('sha256').update(content).digest('base64');
    const earlier = this.#seen.get(digest) ?? 0;
    this.#seen.set(digest, earlier + 1);
    return `${digest}:${earlier}`;
  }
}
