import { z } from 'zod';
import { ok, route, streamedBody } from '../../../http/route/route.ts';
import type { LedgerSync } from '../../../spend/attribution/ledger-sync.ts';
import { SPEND_LIMITS } from '../../../spend/limits.ts';

/** Imports purchases that the agent made elsewhere, one JSON object on each line, for reports. No money moves. */
export const syncLedger = route<{ ledgerSync: LedgerSync }>()({
  method: 'POST',
  path: '/v1/agents/ledger/sync',
  credential: 'agent',
  summary: 'Report spending that happened elsewhere, as NDJSON',
  rateLimit: 'ledger',
  idempotent: true,
  body: streamedBody('application/x-ndjson'),
  maxBodyBytes: SPEND_LIMITS.sync.bodyBytes,
  response: z.object({ synced: z.number(), duplicates: z.number(), rejected: z.number() }),

  async handle({ caller, body, services }) {
    return ok(await services.ledgerSync.sync(caller.agentId, body));
  },
});
