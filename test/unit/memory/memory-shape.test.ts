import { describe, expect, it } from 'vitest';
import { MEMORY_LIMITS } from '../../../src/memory/limits.ts';
import { BODIES } from '../../../src/memory/memory-shape.ts';

const { json: bodyJson } = MEMORY_LIMITS.body;
const { perIngest: itemsPerIngest, metadataFields } = MEMORY_LIMITS.item;
const members = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, value]));
const issuesOf = (op: keyof typeof BODIES, body: unknown) =>
  BODIES[op].safeParse(body).error?.issues ?? [];

describe('the body of an operation', () => {
  it('a memory request with far too many metadata fields gets one error for all of them', () => {
    const most = bodyJson.members;
    const refused = [{ message: `has at most ${metadataFields} fields` }];
    expect(issuesOf('query', { query: 'a', filter: members(most, []) })).toMatchObject([
      { path: ['filter'], ...refused[0] },
    ]);
    const tenantMetadataSchema = members(most, 'date');
    expect(issuesOf('tenant/create', { tenantMetadataSchema })).toMatchObject(refused);
    const memories = [{ text: 'a', metadata: members(most, []) }];
    expect(issuesOf('ingest', { type: 'memory', memories })).toMatchObject(refused);
    const appKnowledge = members(most, 7);
    expect(issuesOf('ingest', { type: 'knowledge', appKnowledge })).toHaveLength(1);
  });

  it('a memory request gets one error per metadata object, for a field’s name or its value', () => {
    const metadata = { good: 1, ...members(metadataFields - 1, []) };
    const memories = Array.from({ length: itemsPerIngest }, () => ({ text: 'a', metadata }));
    const issues = issuesOf('ingest', { type: 'memory', memories });
    expect(issues).toHaveLength(itemsPerIngest);
    expect(issues[7]?.path).toEqual(['memories', 7, 'metadata', 'f0']);
    for (const filter of [{ 'a\0': 1 }, { '': 1 }, { a: 'b\0' }, { a: {} }, [], [7], 7]) {
      const found = issuesOf('query', { query: 'a', filter });
      expect(found.length, JSON.stringify(filter)).toBe(1);
      expect(found[0]?.path[0]).toBe('filter');
    }
  });

  it('a memory query keeps the maximum number of filter fields, of each type', () => {
    const filter = { ...members(metadataFields - 3, 7), text: 'b', yes: true, 'ein Wort': '' };
    const parsed = BODIES.query.parse({ query: 'a', filter });
    expect(parsed.filter).toEqual(filter);
  });
});
