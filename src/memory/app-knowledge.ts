import { isObject } from '../kernel/json.ts';
import { MEMORY_LIMITS } from './limits.ts';

/**
 * Returns the documents in `appKnowledge` as a list, unchecked. It may be a list, one document, or an object of documents by
 * id; a text counts as a document. Any other value is returned unchanged, for the check to refuse.
 */
export function documentsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => documentOf(entry));
  if (typeof value === 'string') return [documentOf(value)];
  if (!isObject(value)) return value;
  if (isDocument(value)) return [value];
  if (Array.isArray(value.documents)) return value.documents.map((entry) => documentOf(entry));
  const ids = Object.keys(value);
  // Too many documents are refused by their number, before any document is read.
  if (ids.length > MEMORY_LIMITS.item.perIngest) return ids;
  return ids.map((id) => documentOf(value[id], id));
}

const isDocument = ({ content, text }: Readonly<Record<string, unknown>>): boolean =>
  typeof text === 'string' || typeof content === 'string';

function documentOf(entry: unknown, id?: string): unknown {
  const document = typeof entry === 'string' ? { text: entry } : entry;
  return isObject(document) && id !== undefined ? { id, ...document } : document;
}
