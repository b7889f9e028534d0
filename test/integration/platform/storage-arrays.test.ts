import { expect, it } from 'vitest';
import { testDatabase } from '../../support/database.ts';

it('SQL arrays of every kind in use are read back from the database as written', async () => {
  await using database = await testDatabase(1);
  const odd = ['', 'NULL', 'null', '{a,b}', '"', '\\', 'a"b\\c', ' x ', 'ключ 🔑', 'new\nline'];
  const sent = { texts: [...odd, null], ids: [1, -2, null], reals: [0.1, 1e300, -5] };
  const big = [`${2n ** 63n - 1n}`, '-1', null];
  const [row] = await database.sql`
    select ${sent.texts}::text[] as texts, ${sent.ids}::int[] as ids,
      ${sent.reals}::float8[] as reals, ${big}::bigint[] as bigs, ${[]}::text[] as nothing`;
  expect(row).toEqual({ ...sent, bigs: [2n ** 63n - 1n, -1n, null], nothing: [] });
});
