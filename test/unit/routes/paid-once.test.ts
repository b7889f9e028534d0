import { describe, expect, it } from 'vitest';
import type { AnyRoute } from '../../../src/http/route/route.ts';
import { createTools } from '../../../src/mcp/mcp-server.ts';
import { ROUTES } from '../../../src/routes/index.ts';

const nameOf = ({ method, path }: Pick<AnyRoute, 'method' | 'path'>) => `${method} ${path}`;

/** Whether no request of a route is paid for twice under one `Idempotency-Key`. */
const isPaidOnce = (route: AnyRoute): boolean =>
  route.method === 'GET' || route.idempotent === true || FREE.has(nameOf(route));

/** Routes that change or ask something and never cost: a new one is put here only if none of its requests can cost. */
const FREE: ReadonlySet<string> = new Set([
  'POST /v1/x402/estimate',
  'POST /v1/agents/actions/:actionId/outcome',
  'POST /v1/agents/policies',
  'PATCH /v1/agents/policies/:policyId',
  'DELETE /v1/agents/policies/:policyId',
  'POST /v1/calls/:callId/hangup',
  'POST /v1/calls/batch/:batchId/cancel',
  'POST /v1/calls/batch/:batchId/pause',
  'POST /v1/calls/batch/:batchId/resume',
  'POST /v1/developer/keys',
  'DELETE /v1/developer/keys/:keyId',
  'POST /v1/developer/agents',
  'PATCH /v1/developer/agents/:agentId/status',
  'POST /v1/developer/agents/:agentId/close',
  'POST /v1/developer/agents/:agentId/keys',
  'DELETE /v1/developer/agents/:agentId/keys/:keyId',
  'POST /v1/developer/agents/:agentId/keys/:keyId/rotate',
  'POST /v1/developer/agents/:agentId/actions/:actionId/outcome',
  'PATCH /v1/developer/agents/:agentId/voice',
  'POST /v1/developer/auth/verify',
  'PATCH /v1/developer/me',
  'PATCH /v1/developer/team/members/:wallet',
  'DELETE /v1/developer/team/members/:wallet',
  'POST /v1/developer/team/invites',
  'POST /v1/developer/team/invites/accept',
  'POST /v1/developer/team/invites/:inviteId/resend',
  'DELETE /v1/developer/team/invites/:inviteId',
  'POST /v1/developer/policies',
  'PATCH /v1/developer/policies/:policyId',
  'DELETE /v1/developer/policies/:policyId',
  'POST /v1/developer/webhooks',
  'PATCH /v1/developer/webhooks/:id',
  'DELETE /v1/developer/webhooks/:id',
  'POST /v1/developer/webhooks/:id/rotate-secret',
  'POST /v1/developer/webhooks/:id/test',
  'POST /v1/developer/webhooks/:id/deliveries/:deliveryId/retry',
  'DELETE /v1/developer/agents/:agentId/numbers/:numberId',
  'POST /v1/developer/auth/logout',
  'PUT /v1/developer/agents/:agentId/spend-limit',
  'DELETE /v1/developer/agents/:agentId/spend-limit',
  'POST /v1/developer/agents/:agentId/policies',
  'PATCH /v1/developer/agents/:agentId/policies/:policyId',
  'DELETE /v1/developer/agents/:agentId/policies/:policyId',
  'POST /v1/developer/agents/:agentId/policies/:policyId/reset',
  'PUT /v1/developer/agents/:agentId/allowlist-mode',
  'PUT /v1/developer/agents/:agentId/self-service-lock',
  'PUT /v1/developer/agents/:agentId/keys/:keyId/budget',
  'DELETE /v1/developer/agents/:agentId/keys/:keyId/budget',
  'POST /v1/developer/agents/:agentId/pre-borrow',
  'POST /v1/developer/keys/:keyId/rotate',
  'POST /v1/developer/agents/:agentId/resolve',
  'POST /v1/developer/agents/:agentId/renew-delegation',
  'PUT /v1/developer/provider-keys/:provider',
  'PATCH /v1/developer/provider-keys/:provider',
  'DELETE /v1/developer/provider-keys/:provider',
  'POST /v1/developer/webhooks/:id/recover',
  'POST /v1/developer/agents/:agentId/voice',
  'POST /v1/developer/phone/do-not-call',
  'DELETE /v1/developer/phone/do-not-call/:phoneNumber',
  'POST /v1/messages/count_tokens',
  'DELETE /v1/responses/:id',
  'POST /v1/responses/:id/cancel',
  'POST /v1/estimate',
  'POST /v1/db/vectordb/status',
  'POST /v1/db/vectordb/list',
  'POST /v1/db/vectordb/delete',
  'POST /v1/db/vectordb/tenant/create',
  'POST /v1/db/vectordb/tenant/status',
  'POST /v1/db/vectordb/tenant/delete',
  'PATCH /v1/admin/agents/:agentId',
  'POST /v1/admin/agents/:agentId/close',
  'POST /v1/admin/agents/:agentId/credit',
  'POST /v1/admin/reservations/:nonce/release',
  'PUT /v1/agents/spend-limit',
  'DELETE /v1/agents/spend-limit',
  'POST /v1/agents/policies/:policyId/reset',
  'PUT /v1/agents/allowlist-mode',
  'POST /v1/realtime/client_secrets',
  'POST /v1/live/sessions',
  'POST /v1/live/sessions/:id/:action',
  'POST /v1/agents/close',
  'POST /v1/agents/credit-thresholds',
  'DELETE /v1/agents/credit-thresholds/:thresholdId',
  'POST /v1/x402/forecast',
  'POST /v1/mcp',
  'POST /v1/developer/orchestrators',
  'POST /v1/developer/orchestrators/:id/rotate',
  'PATCH /v1/developer/orchestrators/:id',
  'DELETE /v1/developer/orchestrators/:id',
  'POST /v1/webhooks/:provider/call-end/:token',
  'POST /v1/webhooks/:provider/pre-call/:token',
  'POST /v1/telephony/:carrier/:hook',
  'POST /v1/events/tool-call',
  'POST /v1/onramp/session-token',
  // A transfer or an order moves its amount once, whatever is repeated.
  'POST /v1/transfers/prepare',
  'POST /v1/transfers/:id/execute',
  'POST /v1/transfers/:id/confirm',
  'POST /v1/transfers/:id/link-onramp',
  'POST /v1/offramp/orders/:ref/cancel',
  'POST /v1/offramp/orders/:ref/tx',
  'PUT /v1/admin/call-limits/:accountId',
  'PUT /v1/admin/telephony-suspensions/:accountId',
  'DELETE /v1/admin/telephony-suspensions/:accountId',
  'DELETE /v1/admin/telephony-suspensions',
  'POST /v1/auth/grant',
]);

const ARGS: Readonly<Record<string, object>> = {
  balance: {},
  estimate: { model: 'local/guide', inputTokens: 1, outputTokens: 1 },
  call_vendor: { url: 'https://vendor.example/', method: 'GET' },
  speak: { text: 'Good morning.' },
  transcribe: { audio: 'AAAA' },
  think: { prompt: 'What is two plus two?' },
  remember: { texts: ['A fact.'] },
  recall: { query: 'Which fact?' },
  get_activity: {},
  get_agent_reputation: {},
  get_coverage_score: {},
  get_usage_summary: {},
};

describe('what can cost is paid for once under an Idempotency-Key', () => {
  it('every route that is not GET takes an Idempotency-Key or is known to cost nothing', () => {
    const unkeyed = ROUTES.filter(
      (route: AnyRoute) => route.method !== 'GET' && route.idempotent !== true,
    );
    expect(unkeyed.map(nameOf).sort()).toEqual([...FREE].sort());
  });

  it('every route behind an MCP tool takes the key of the tool call or costs nothing', async () => {
    const memory = {
      run: () => Promise.reject(new Error('no memory')),
      recall: async () => undefined,
    };
    const tools = createTools(memory);
    expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(ARGS).sort());
    for (const tool of tools) {
      const asked: AnyRoute[] = [];
      const args = tool.input.parse(ARGS[tool.name]);
      await tool
        .call(args, (route) => {
          asked.push(route);
          return Promise.reject(new Error('asked'));
        })
        .catch(() => {});
      expect([tool.name, asked.length > 0]).toEqual([tool.name, true]);
      expect(asked.filter((route) => !isPaidOnce(route)).map(nameOf)).toEqual([]);
    }
  });
});
