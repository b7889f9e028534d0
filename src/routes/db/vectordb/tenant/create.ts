import { route } from '../../../../http/route/route.ts';
import type { Memory } from '../../../../memory/memory.ts';
import { memoryOperation } from '../memory-operation.ts';

/** Makes the store of the agent, or a namespace of it, and declares the fields of its metadata. */
export const memoryTenantCreate = route<{ memory: Memory }>()({
  method: 'POST',
  path: '/v1/db/vectordb/tenant/create',
  summary: 'Make the memory store of the agent',
  ...memoryOperation('tenant/create'),
});
