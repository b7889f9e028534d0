import type { Clock } from '../../kernel/clock.ts';
import { turnForLongWork } from '../../kernel/long-work.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { thisMonth } from '../account/report-window.ts';
import { reportErrors } from '../errors.ts';
import { REPORT_LIMITS } from '../limits.ts';
import { findOwnAgents } from '../own-agents-store.ts';
import { type Billed, findBilled } from './month-csv-store.ts';

const { rowsPerTurn } = REPORT_LIMITS.export;

/**
 * Returns the amounts of this UTC month as CSV, oldest first. Throws 413 when there are more than `REPORT_LIMITS.csvRows`. One
 * statement reads all rows, so that a payment that is decided meanwhile stands in them once.
 */
export async function monthAsCsv(
  { clock, sql }: { readonly clock: Clock; readonly sql: Sql },
  accountId: string,
): Promise<AsyncIterable<Uint8Array>> {
  const { end, start } = thisMonth(clock);
  const agents = await findOwnAgents(sql, accountId);
  const names = new Map(agents.map(({ id, name }) => [id, name]));
  const window = { agentIds: [...names.keys()], since: new Date(start), until: new Date(end) };
  const most = REPORT_LIMITS.csvRows;
  const rows = await findBilled(sql, window, most + 1);
  if (rows.length > most) throw reportErrors.exportTooLarge(most);

  return (async function* () {
    yield Buffer.from('time,agent,vendor_endpoint,amount_raw\r\n');
    for (let from = 0; from < rows.length; from += rowsPerTurn) {
      await turnForLongWork();
      const some = rows.slice(from, from + rowsPerTurn);
      yield Buffer.from(some.map((row) => csvLine(row, names.get(row.agentId) ?? '')).join(''));
    }
  })();
}

const csvLine = ({ amountRaw, at, endpoint }: Billed, agent: string): string =>
  `${[at.toISOString(), agent, endpoint, amountRaw.toString()].map(csvField).join(',')}\r\n`;

/**
 * Returns a field of CSV. A field that a spreadsheet would take for a formula gets a quote before it, so that it is shown and
 * not computed.
 *
 * @internal Tests defuse fields of every kind.
 */
export function csvField(text: string): string {
  const shown = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
