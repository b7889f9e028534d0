import { route } from '../../../http/route/route.ts';
import type { Memory } from '../../../memory/memory.ts';
import { memoryOperation } from './memory-operation.ts';

/** Stores memories or documents. They can be found once they are indexed. */
export const memoryIngest = route<{ memory: Memory }>()({
  method: 'POST',
  path: '/v1/db/vectordb/ingest',
  summary: 'Remember texts and documents',
  ...memoryOperation('ingest'),
});
