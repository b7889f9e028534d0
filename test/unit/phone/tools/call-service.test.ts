import { expect, it } from 'vitest';
import type { Call } from '../../../../src/phone/calls/call.ts';
import type { AgentTool } from '../../../../src/phone/tools/agent-tools.ts';
import { callService } from '../../../../src/phone/tools/call-service.ts';
import type { ServiceCall } from '../../../../src/phone/tools/service-tools.ts';

const CALL = {
  callId: 'CA1',
  agentId: 1,
  accountId: 'acct',
  taskId: 'task',
  keyId: null,
  keyRootId: null,
  taskValueBps: null,
  actionId: null,
  customerId: null,
} as unknown as Call;
const reserve = { use: async () => Promise.reject(new Error('nothing is bought')) };
const { signal } = new AbortController();
const VENDOR = {
  type: 'service',
  name: 'call_vendor',
  hosts: ['api.example.com'],
  maxCostRaw: '10',
} as const satisfies AgentTool;

async function asked(tool: Extract<AgentTool, { type: 'service' }>, args: unknown, id = 'call_1') {
  const calls: ServiceCall[] = [];
  const services = {
    call: async (call: ServiceCall) => {
      calls.push(call);
      return { outcome: 'done', output: '', costRaw: 0n } as const;
    },
  };
  const given = { args, reserve, signal, toolCallId: id };
  const { output } = await callService(services, CALL, tool, given);
  return { call: calls[0], output };
}

it('a service tool runs for the agent of the call, with one work id for each tool call', async () => {
  const { call } = await asked({ type: 'service', name: 'balance' }, {});
  expect(call).toMatchObject({ name: 'balance', timeoutMs: 30_000 });
  expect(call?.spender).toEqual({ agentId: 1, accountId: 'acct', taskId: 'task', reserve });
  const odd = await asked({ type: 'service', name: 'balance', timeoutMs: 900 }, {}, 'ü\n');
  expect(odd.call?.workId).toMatch(/^call-[0-9a-f]{64}$/);
  expect(odd.call?.workId).not.toBe(call?.workId);
  expect(odd.call?.timeoutMs).toBe(900);
});

it.each([
  'https://evil.example/',
  'https://api.example.com.evil.example/',
  'https://api.example.com@evil.example/',
  'https://api.example.com./',
  'https://sub.api.example.com/',
  'https://127.0.0.1/',
])('call_vendor refuses the URL %s, whose host is not on the list', async (url) => {
  const { call, output } = await asked(VENDOR, { url });
  expect(call).toBeUndefined();
  expect(output).toContain('Allowed: api.example.com.');
});

it.each(['https://api.example.com/a?b=c', 'HTTPS://API.EXAMPLE.COM:8443/'])(
  'call_vendor calls the URL %s, whose host is on the list',
  async (url) => {
    expect((await asked(VENDOR, { url })).call?.args).toEqual({ url });
  },
);
