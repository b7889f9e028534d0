import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { checkLedger } from '../../../../src/ledger/engine/check-ledger.ts';
import { LEDGER_LIMITS } from '../../../../src/ledger/engine/limits.ts';
import type { Sql } from '../../../../src/platform/postgres/sql.ts';

const RANGES = 3;

/** A sound ledger of three ranges of agents; `onQuery` hears of each query by its number. */
function world(onQuery: (nth: number) => void = () => {}) {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const state = { asked: 0, underWay: 0, most: 0 };
  const sql = (async (text: TemplateStringsArray) => {
    state.most = Math.max(state.most, ++state.underWay);
    onQuery(++state.asked);
    await new Promise((resolve) => setImmediate(resolve));
    state.underWay--;
    return text.join('?').includes('max(agent_id)')
      ? [{ id: RANGES * LEDGER_LIMITS.selfCheckAgents - 1 }]
      : [];
  }) as unknown as Sql;
  return { sql, log, lines, state };
}

describe('the self-check of the ledger', () => {
  it('the self-check of the ledger checks every agent with one query at a time, and logs one line', async () => {
    const { sql, log, lines, state } = world();
    expect(await checkLedger({ sql, log })).toEqual([]);
    expect(state).toEqual({ asked: 1 + RANGES * 8, underWay: 0, most: 1 });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('the ledger was checked');
  });

  it('a self-check of the ledger that was stopped logs nothing', async () => {
    const stopping = new AbortController();
    const { sql, log, lines, state } = world((nth) => nth === 2 && stopping.abort());
    await checkLedger({ sql, log, signal: stopping.signal });
    expect(state.asked).toBe(1 + 8);
    expect(lines).toEqual([]);
  });
});
