import { describe, expect, it } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { startWorld } from '../support/whole-world.ts';

describe('a server whose memories must be searched by pgvector', () => {
  it('a server set to pgvector does not start when its database lacks the extension, and says so', async () => {
    await using database = await testDatabase(1);
    const there = await database.sql`select 1 from pg_available_extensions where name = 'vector'`;
    const start = async () => {
      await using world = await startWorld({ MEMORY_INDEX: 'pgvector' });
      return world.url;
    };
    if (there.length > 0) expect(await start()).toMatch(/^http/);
    else {
      await expect(start()).rejects.toThrow(
        'MEMORY_INDEX is pgvector, but the PostgreSQL server does not have the extension vector',
      );
    }
  });
});
