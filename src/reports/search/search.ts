import type { Sql } from '../../platform/postgres/sql.ts';
import { REPORT_LIMITS } from '../limits.ts';
import { lookupsOf } from './forms.ts';
import { findHits, type Hit } from './search-store.ts';

export type Search = ReturnType<typeof createSearch>;

/** Routes that show an object of a kind. A kind that is not listed has no route of its own. */
const PATHS: Readonly<Record<string, (hit: Hit) => string>> = {
  account: () => '/v1/developer/profile',
  agent: ({ id }) => `/v1/developer/agents/${id}`,
  agent_key: ({ agentId }) => `/v1/developer/agents/${agentId}/keys`,
  developer_key: () => '/v1/developer/keys',
  webhook: ({ id }) => `/v1/developer/webhooks/${id}`,
  webhook_delivery: ({ id }) => `/v1/developer/webhook-deliveries/${id}`,
  action: ({ agentId }) => `/v1/developer/agents/${agentId}/actions`,
  action_outcome: ({ agentId }) => `/v1/developer/agents/${agentId}/actions`,
  call: ({ agentId, id }) => `/v1/developer/agents/${agentId}/calls/${id}/report`,
  task: () => '/v1/developer/ledger?groupBy=campaign',
  customer: () => '/v1/developer/ledger?groupBy=customer',
};

/** Creates the search for the objects of an account that a text may mean. */
export function createSearch({ sql }: { readonly sql: Sql }) {
  return {
    /** Returns the objects that have this text as their id, hash, number, prefix, tag or name. */
    async find(accountId: string, text: string) {
      const lookups = lookupsOf(text.trim());
      const hits = await findHits(sql, {
        accountId,
        lookups,
        each: REPORT_LIMITS.search.resultsPerKind,
      });
      return {
        results: hits.map((hit) => ({ ...hit, path: PATHS[hit.kind]?.(hit) ?? null })),
      };
    },
  };
}
