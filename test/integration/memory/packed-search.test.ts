import { afterAll, beforeAll, describe } from 'vitest';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { memoryProcess } from '../../support/memory-world.ts';
import { vectorSearchCases } from '../../support/vector-search-cases.ts';

describe('a search in the packed index', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase(2);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  vectorSearchCases(() => {
    const { sql } = database;
    return { sql, searches: [memoryProcess(sql).loader], settle: async () => {} };
  });
});
