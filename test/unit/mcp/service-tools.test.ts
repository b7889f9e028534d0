import { expect, it } from 'vitest';
import { createServiceTools, type ServiceToolDeps } from '../../../src/mcp/service-tools.ts';
import { objectionTo } from '../../support/strict/judge.ts';

const NAMES = ['recall', 'remember', 'balance', 'estimate', 'think', 'call_vendor'] as const;
const tools = createServiceTools({ memory: {} } as ServiceToolDeps);

it.each(NAMES)('the MCP tool %s has a schema that model vendors accept', (name) => {
  const offered = tools.offered(name);
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    tools: [{ type: 'function', function: { name, ...offered } }],
  };
  const headers = { 'content-type': 'application/json', authorization: 'Bearer x' };
  const path = '/v1/chat/completions';
  expect(objectionTo({ headers, path, text: JSON.stringify(body) })).toBeUndefined();
});

it('the MCP tools recall and remember are missing on a server without memory', () => {
  const none = createServiceTools({ memory: undefined } as ServiceToolDeps);
  expect([none.offered('recall'), none.offered('remember')]).toEqual([undefined, undefined]);
});
