import { describe, expect, it } from 'vitest';
import { ResponseTrimmer } from '../../../../../src/models/responses/kept/trim-responses.ts';
import { RESPONSES_LIMITS } from '../../../../../src/models/responses/limits.ts';
import type { Sql } from '../../../../../src/platform/postgres/sql.ts';

const { trimAfterBytes, trimAfterRows } = RESPONSES_LIMITS.kept;

/** A trimmer on a database that is as slow as it is told, and how often it was asked, at most at a time. */
function trimming() {
  const seen = { begun: 0, open: 0, most: 0 };
  let finish = () => {};
  function sql() {
    seen.begun++;
    seen.most = Math.max(seen.most, ++seen.open);
    return new Promise<void>((resolve) => {
      finish = () => {
        seen.open--;
        resolve();
      };
    });
  }
  const trimmer = new ResponseTrimmer(sql as unknown as Sql);
  return { seen, trimmer, finish: () => finish() };
}

describe('the trims of the responses of an agent', () => {
  it('an agent’s responses are trimmed after the first row, and then after a number of rows or bytes', async () => {
    const { finish, seen, trimmer } = trimming();
    const add = async (bytes: number) => {
      const added = trimmer.added(1, bytes);
      finish();
      await added;
    };
    await add(1);
    expect(seen.begun).toBe(1);
    for (let row = 1; row < trimAfterRows; row++) await add(1);
    expect(seen.begun).toBe(1);
    await add(1);
    expect(seen.begun).toBe(2);
    await add(trimAfterBytes);
    expect(seen.begun).toBe(3);
  });

  it('one trim of an agent’s responses runs at a time, and one more covers all rows added while it ran', async () => {
    const { finish, seen, trimmer } = trimming();
    const added = Array.from({ length: 40 }, () => trimmer.added(1, trimAfterBytes));
    finish();
    await added[0];
    while (seen.begun < 2) await Promise.resolve();
    finish();
    await Promise.all(added);
    expect(seen).toEqual({ begun: 2, open: 0, most: 1 });
  });
});
