import { describe, expect, it } from 'vitest';
import { soon } from '../../../../../src/kernel/clock.ts';
import { ResponseInserts } from '../../../../../src/models/responses/kept/response-inserts.ts';
import { RESPONSES_LIMITS } from '../../../../../src/models/responses/limits.ts';
import type { Sql } from '../../../../../src/platform/postgres/sql.ts';
import { CallTimeout } from '../../../../../src/platform/postgres/transient.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const { insertMs, inserts: most, rowsPerInsert } = RESPONSES_LIMITS.kept;

const rowOf = (id: string) => ({
  id,
  agentId: 1,
  previousId: null,
  itemIds: [],
  sealed: new Uint8Array(8),
  keptDays: 1,
});

/** Inserts into a database that answers each statement as it is told, by the array of its ids. */
function inserting(answer: (ids: string) => Promise<unknown>) {
  const clock = new ManualClock();
  const statements: string[] = [];
  const sql = (([begin = '']: TemplateStringsArray, ...values: unknown[]) => {
    const isDelete = begin.startsWith('delete');
    const ids = String(values[isDelete ? 0 : 1]);
    statements.push(isDelete ? `delete ${ids}` : ids);
    return answer(ids);
  }) as unknown as Sql;
  const inserts = new ResponseInserts({ sql, clock });
  const insert = (...ids: string[]) =>
    Promise.allSettled(ids.map((id) => inserts.insert(rowOf(id))));
  return { clock, insert, statements };
}

const isWritten = (settled: readonly PromiseSettledResult<void>[]) =>
  settled.map(({ status }) => status === 'fulfilled');
const turn = () => new Promise<void>(soon);
const hangs = () => new Promise<never>(() => {});
const transient = () => Promise.reject(Object.assign(new Error('gone'), { code: '57P01' }));

describe('the inserts of responses', () => {
  it('the response inserts of a batch are retried one by one after a non-transient error', async () => {
    const { insert, statements } = inserting(async (ids) => {
      if (ids.includes('bad')) throw new TypeError('it cannot be encoded');
    });
    expect(isWritten(await insert('a', 'bad', 'b'))).toEqual([true, false, true]);
    expect(statements).toEqual(['{"a","bad","b"}', '{"a"}', '{"bad"}', '{"b"}']);
  });

  it('the response inserts of a batch fail together while the database is away, also when retried one by one', async () => {
    const away = inserting(transient);
    expect(isWritten(await away.insert('a', 'b'))).toEqual([false, false]);
    expect(away.statements).toHaveLength(1);
    const later = inserting(async (ids) => {
      if (ids.includes('bad')) throw new TypeError('it cannot be encoded');
      if (ids.includes('b')) await transient();
    });
    expect(isWritten(await later.insert('a', 'bad', 'b', 'c'))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(later.statements).toHaveLength(4);
  });

  it('the response inserts continue past a hanging statement, which is given up after its timeout', async () => {
    const { clock, insert, statements } = inserting((ids) =>
      ids.includes('hung') ? hangs() : Promise.resolve(),
    );
    const hung = insert('hung');
    while (statements.length === 0) await turn();
    expect(isWritten(await insert('a', 'b'))).toEqual([true, true]);
    clock.advance(insertMs);
    expect(await hung).toMatchObject([{ status: 'rejected', reason: expect.any(CallTimeout) }]);
    expect(isWritten(await insert('c'))).toEqual([true]);
  });

  it('the response inserts delete what a timed-out statement wrote after all', async () => {
    let write = () => {};
    const late = new Promise<void>((resolve) => {
      write = resolve;
    });
    const { clock, insert, statements } = inserting(() => late);
    const hung = insert('a', 'b');
    while (statements.length === 0) await turn();
    clock.advance(insertMs);
    expect(isWritten(await hung)).toEqual([false, false]);
    expect(statements).toHaveLength(1);
    write();
    while (statements.length === 1) await turn();
    expect(statements).toEqual(['{"a","b"}', 'delete {"a","b"}']);
  });

  it('the response inserts run a limited number of statements at a time', async () => {
    const { clock, insert, statements } = inserting(hangs);
    const many = insert(...Array.from({ length: rowsPerInsert * most + 1 }, (_, i) => `r${i}`));
    for (let nth = 0; nth < 5; nth++) await turn();
    expect(statements).toHaveLength(most);
    clock.advance(insertMs);
    while (statements.length === most) await turn();
    clock.advance(insertMs);
    expect(isWritten(await many)).not.toContain(true);
    expect(statements).toHaveLength(most + 1);
  });
});
