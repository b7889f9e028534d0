import { createHash } from 'node:crypto';
import { wordsOf } from '../engines/text/words.ts';
import type { ValidationDetail } from '../http/route/errors.ts';
import { MEMORY_LIMITS } from './limits.ts';
import type { Metadata, MetadataSchema } from './memory-shape.ts';

const WORD_CHARS = 64;

const wordTerm = (spaceId: number, field: string, word: string): string =>
  `w:${spaceId}:${word.slice(0, WORD_CHARS)}:${field}`;

/** Returns the search term of a value: a hash, so that its length does not depend on the value. */
function valueTerm(spaceId: number, field: string, value: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify([field, value]));
  return `v:${spaceId}:${hash.digest('base64url').slice(0, 22)}`;
}

/**
 * Returns the terms that metadata is found by: one for each whole value and one for each word, up to
 * `MEMORY_LIMITS.item.metadataWords` words.
 */
export function termsOf(spaceId: number, metadata: Metadata): string[] {
  const fields = Object.entries(metadata);
  const words = fields.flatMap(([field, value]) =>
    wordsOf(String(value)).map((word) => wordTerm(spaceId, field, word)),
  );
  const values = fields.map(([field, value]) => valueTerm(spaceId, field, value));
  return [...values, ...[...new Set(words)].slice(0, MEMORY_LIMITS.item.metadataWords)];
}

/** Returns the terms of all fields in a filter. A matching chunk has every term. */
export const filterTerms = (spaceId: number, filter: Metadata): string[] =>
  Object.entries(filter).map(([field, value]) => valueTerm(spaceId, field, value));

/** Returns the terms for the words of a query in the given fields: a bounded number, the same number for each field. */
export function queryTerms(spaceId: number, fields: readonly string[], query: string): string[] {
  const { terms: most, words: queryWords } = MEMORY_LIMITS.query;
  const names = [...new Set(fields)];
  const each = Math.min(queryWords, Math.floor(most / Math.max(1, names.length)));
  // Metadata indexed by earlier versions was not composed (NFC), so that its words end at combining marks. The cut words match
  // it.
  const cut = query.normalize('NFD').replace(/\p{M}+/gu, ' ');
  const words = [...new Set([...wordsOf(query), ...wordsOf(cut)])].slice(0, each);
  return names.flatMap((field) => words.map((word) => wordTerm(spaceId, field, word)));
}

/**
 * Returns the details of metadata whose values differ from the declared type of their field. A field that was not
 * declared may have any type.
 */
export function checkMetadata(
  schema: MetadataSchema,
  metadata: Metadata,
  path: readonly (string | number)[],
): ValidationDetail[] {
  return Object.entries(metadata).flatMap(([field, value]) => {
    const type = Object.hasOwn(schema, field) ? schema[field] : undefined;
    if (type === undefined || typeof value === type) return [];
    return [
      { path: [...path, field], message: `is declared as ${type}`, code: 'invalid_metadata' },
    ];
  });
}

/** Returns the schema with further fields, or the problems: the type of an existing field must not change. */
export function extendSchema(
  schema: MetadataSchema,
  more: MetadataSchema,
): { readonly schema: MetadataSchema; readonly details: readonly ValidationDetail[] } {
  const path = ['tenantMetadataSchema'];
  const details = Object.entries(more).flatMap(([field, type]) =>
    Object.hasOwn(schema, field) && schema[field] !== type
      ? [{ path: [...path, field], message: `is ${schema[field]} already`, code: 'invalid_schema' }]
      : [],
  );
  const joined = { ...schema, ...more };
  const { metadataFields } = MEMORY_LIMITS.item;
  if (Object.keys(joined).length <= metadataFields) return { schema: joined, details };
  const message = `has at most ${metadataFields} fields`;
  return { schema, details: [...details, { path, message, code: 'too_big' }] };
}
