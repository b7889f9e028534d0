import { route } from '../../../../http/route/route.ts';
import type { Memory } from '../../../../memory/memory.ts';
import { memoryOperation } from '../memory-operation.ts';

/** Deletes the agent's store with all its contents. */
export const memoryTenantDelete = route<{ memory: Memory }>()({
  method: 'POST',
  path: '/v1/db/vectordb/tenant/delete',
  summary: 'Delete the memory store of the agent',
  ...memoryOperation('tenant/delete'),
});
