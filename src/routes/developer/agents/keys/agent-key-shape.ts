import { z } from 'zod';
import { RowId } from '../../../row-id.ts';
import { keyWish } from '../../keys/key-shape.ts';

export const AgentKeyParams = z.object({ agentId: RowId, keyId: RowId });

/** A budget that nobody would enforce must not look accepted. */
const notYet = z.never({ error: 'spend policies are not part of this server version' }).optional();

export const MintBody = z.object({ ...keyWish, budgetRaw: notYet, windowSeconds: notYet });

/** An agent key in lists; `key` is there in the answer that creates it, and nowhere else. */
export const AgentKeyRecord = z.object({
  id: z.number(),
  keyId: z.number(),
  keyPrefix: z.string(),
  label: z.string().nullable(),
  permissions: z.enum(['read', 'read_write']),
  lastUsedAt: z.string().nullable(),
  createdAt: z.string(),
  budget: z.null(),
});
