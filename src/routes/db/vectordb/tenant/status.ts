import { route } from '../../../../http/route/route.ts';
import type { Memory } from '../../../../memory/memory.ts';
import { memoryOperation } from '../memory-operation.ts';

/** Reads the existence and the size of the memory store of the agent. */
export const memoryTenantStatus = route<{ memory: Memory }>()({
  method: 'POST',
  path: '/v1/db/vectordb/tenant/status',
  summary: 'Whether the agent has a memory store',
  permission: 'read',
  ...memoryOperation('tenant/status'),
});
