import { route } from '../../../http/route/route.ts';
import type { Memory } from '../../../memory/memory.ts';
import { memoryOperation } from './memory-operation.ts';

/** Writes memories or documents down. They are found as soon as they are indexed. */
export const memoryIngest = route<{ memory: Memory }>()({
  method: 'POST',
  path: '/v1/db/vectordb/ingest',
  summary: 'Remember texts and documents',
  ...memoryOperation('ingest'),
});
