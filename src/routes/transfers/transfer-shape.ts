import { z } from 'zod';

const DIRECTIONS = ['from_agent', 'agent_to_agent', 'to_agent', 'embedded_to_external'] as const;

export const Direction = z.enum(DIRECTIONS);

/** Largest row id. */
const MAX_ROW_ID = 2_147_483_647;

/** Id of an agent as a number of a body. */
export const AgentId = z.number().int().min(1).max(MAX_ROW_ID);

export const Address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits');

export const TxHash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex digits')
  .toLowerCase();

export const Uuid = z.uuid();

export const TransferParams = z.object({ id: Uuid });

export const TransferStatus = z.enum([
  'prepared',
  'executing',
  'submitted',
  'completed',
  'failed',
  'expired',
]);

export const TransferState = z.object({
  transferId: z.string(),
  status: TransferStatus,
  txHash: z.string().nullable(),
});
