import { route } from '../../../../http/route/route.ts';
import type { Memory } from '../../../../memory/memory.ts';
import { memoryOperation } from '../memory-operation.ts';

/** Creates the agent's store, or a namespace in the store, and declares the fields of its metadata. */
export const memoryTenantCreate = route<{ memory: Memory }>()({
  method: 'POST',
  path: '/v1/db/vectordb/tenant/create',
  summary: 'Make the memory store of the agent',
  ...memoryOperation('tenant/create'),
});
