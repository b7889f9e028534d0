import { z } from 'zod';
import { connectionRecord } from '../../../orchestrators/connection.ts';
import type { Connected } from '../../../orchestrators/connections.ts';
import { ORCHESTRATOR_LIMITS } from '../../../orchestrators/limits.ts';
import { PROVIDERS } from '../../../orchestrators/platform.ts';
import { MAX_ROW_ID, RowId } from '../../row-id.ts';

const { labelChars, secretChars } = ORCHESTRATOR_LIMITS.connection;

export const ConnectionParams = z.object({ id: RowId });

export const connectionRequest = {
  agentId: z
    .union([z.number().int().min(0), z.string().regex(/^\d{1,15}$/, 'must be digits only')])
    .transform((id) => (Number(id) > MAX_ROW_ID ? 0 : Number(id))),
  provider: z.string().meta({ enum: PROVIDERS }),
  secret: z
    .string()
    .min(secretChars.min)
    .max(secretChars.max)
    .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII')
    .optional(),
  label: z.string().max(labelChars).nullish(),
};

export const ConnectionRecord = z.object({
  id: z.number(),
  provider: z.enum(PROVIDERS),
  agentWallet: z.string().nullable(),
  label: z.string().nullable(),
  active: z.boolean(),
  lastEventAt: z.iso.datetime().nullable(),
  webhookUrl: z.string(),
  preCallUrl: z.string().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** Returns a connection with its URLs, at the public origin or, without one, at the host that the developer has asked. */
export function shownConnection(
  { connection, secret, token }: Connected,
  {
    headers,
    publicOrigin,
  }: { readonly headers: ReadonlyMap<string, string>; readonly publicOrigin: string },
) {
  const origin = publicOrigin === '' ? `http://${headers.get('host') ?? ''}` : publicOrigin;
  return {
    ...connectionRecord(connection, token, origin),
    ...(secret !== undefined && { secret }),
  };
}
