import { MAY_RETRY, mayRetryAfter, NO_RETRY, refusal } from '../kernel/refusal.ts';
import { MEMORY_LIMITS } from './limits.ts';

/** Refusals of the memory store (contract B §4.5). */
export const memoryErrors = {
  invalidJson: () => refusal(400, 'Invalid JSON body', 'The body is not valid JSON.'),
  tenantNotFound: () =>
    refusal(404, 'tenant_not_found', 'This agent has no memory store: create one, or ingest.', {
      next: {
        hint: 'Create the store of this agent',
        method: 'POST',
        path: '/v1/db/vectordb/tenant/create',
      },
    }),
  full: (what: 'items' | 'sub-tenants' | 'bytes of text', most: number) =>
    refusal(
      409,
      'memory_full',
      `The memory of an agent has at most ${most} ${what}; delete some first.`,
      { limit: most },
      NO_RETRY,
    ),
  vendorMissing: () =>
    refusal(
      503,
      'vendor_unavailable',
      'The engine that embeds texts is not part of this installation.',
      {},
      NO_RETRY,
    ),
  modelGone: (model: string) =>
    refusal(
      503,
      'vendor_unavailable',
      `This namespace was made with "${model}", which is not sold here any more: search it in keyword mode, or ingest its items into another namespace.`,
      { model },
      NO_RETRY,
    ),
  /** Refusal with the status of the provider that refused the embedding of a query. */
  modelRefused: (model: string, status: number) =>
    refusal(
      503,
      'vendor_unavailable',
      `The provider of "${model}" answered ${status}; nothing was charged.`,
      { model, upstream_status: status },
      MAY_RETRY,
    ),
  vendorBusy: (seconds: number) =>
    refusal(
      503,
      'vendor_unavailable',
      'The memory store has no room for this now; try again shortly.',
      {},
      mayRetryAfter(seconds),
    ),
  tooManyVectors: () =>
    refusal(
      503,
      'vendor_unavailable',
      'This namespace has more vectors than this server may hold; search it in keyword mode.',
      {},
      NO_RETRY,
    ),
  bodyTooLong: () =>
    refusal(
      413,
      'payload_too_large',
      `The body may have at most ${MEMORY_LIMITS.body.bytes} bytes.`,
      {
        limit_bytes: MEMORY_LIMITS.body.bytes,
      },
    ),
};
