import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type Asked, memoryWorld } from '../../support/memory-world.ts';

let shared: TestDatabase;
beforeAll(async () => {
  shared = await testDatabase(8);
});
afterAll(() => shared[Symbol.asyncDispose]());

/** The first letters of what a keyword query finds. */
const marks = ({ status, body }: Asked): string => {
  expect(status, JSON.stringify(body)).toBe(200);
  const chunks = body.result.data.chunks as { chunk_content: string }[];
  return chunks
    .map(({ chunk_content: text }) => text.charAt(0))
    .sort()
    .join('');
};

const TEXTS = [
  'A: the fault is in src/memory/search-store.ts, near line 40',
  'B: it was sent as Invoice_Final.pdf to everybody',
  'C: write to jane.doe@example.com for the keys',
  'D: see https://docs.example.org/setup/linux?step=2#disk about disks',
  'E: choose vim/emacs as you like',
  'F: it lies in C:\\Users\\rosa\\report.docx on her machine',
  'G: the type is Map<String, List<Order>> here',
  'H: cafe\u0301 with Zoe\u0308',
  'I: version 1.20.3 costs 3.14 a day',
  'J: linux runs there, docs are far away',
];

describe('a keyword query', () => {
  it.each([
    ['a folder of a path', 'memory', 'A'],
    ['a file of a path', 'search-store', 'A'],
    ['the ending of a file', 'ts', 'A'],
    ['a whole path', 'src/memory/search-store.ts', 'A'],
    ['a part of a path', 'memory/search-store', 'A'],
    ['a word of a file name', 'final', 'B'],
    ['a whole file name', 'invoice_final.pdf', 'B'],
    ['a name in an address', 'doe', 'C'],
    ['a domain in an address', 'example', 'CD'],
    ['a whole address', 'jane.doe@example.com', 'C'],
    ['a word of a URL', 'setup', 'D'],
    ['a whole URL', 'https://docs.example.org/setup/linux?step=2#disk', 'D'],
    ['the second of two words with a slash', 'emacs', 'E'],
    ['both with the slash', 'vim/emacs', 'E'],
    ['a folder of a Windows path', 'rosa', 'F'],
    ['a word in angle brackets', 'order', 'G'],
    ['a composed letter for one in two characters', 'caf\u00e9', 'H'],
    ['a letter in two characters for such a one', 'Zoe\u0308', 'H'],
    ['a version', '1.20.3', 'I'],
    ['a number with a point', '3.14', 'I'],
    ['a part of a version, which is none', '20', ''],
    ['a path that nobody wrote, by none of its words alone', 'linux/docs', ''],
    ['a path that is left out, and no more than that', 'linux -docs.example.org/setup', 'J'],
    ['a phrase with a slash', '"choose vim/emacs"', 'E'],
  ])('a keyword query finds %s', async (_, query, found) => {
    await using w = await memoryWorld({ shared });
    await w.remember(TEXTS);
    const answer = await w.ask(w.agentId, 'query', { query, mode: 'keyword' });
    expect(marks(answer)).toBe(found);
  });

  it('a keyword query finds a metadata word in composed and in decomposed Unicode letters', async () => {
    await using w = await memoryWorld({ shared });
    await w.ask(w.agentId, 'tenant/create', { tenantMetadataSchema: { place: 'string' } });
    for (const place of ['Cafe\u0301 Zoe\u0308', 'Caf\u00e9 Zo\u00eb']) {
      const memories = [{ text: 'x', metadata: { place } }];
      await w.ask(w.agentId, 'ingest', { type: 'memory', memories });
    }
    await w.remember(['y']);
    for (const query of ['caf\u00e9', 'zoe\u0308']) {
      const answer = await w.ask(w.agentId, 'query', { query, queryBy: 'place' });
      expect(marks(answer), query).toBe('xx');
    }
  });
});

describe('a query of a fresh agent', () => {
  it('a query of a fresh agent returns no results and no error, for any words, mode and namespace', async () => {
    await using w = await memoryWorld({ shared });
    for (const more of [{}, { mode: 'keyword' }, { subTenantId: 'a' }, { filter: { a: 1 } }]) {
      const { status, body } = await w.ask(w.agentId, 'query', { query: 'editor', ...more });
      expect([status, body]).toEqual([200, { result: { success: true, data: { chunks: [] } } }]);
    }
  });
});
