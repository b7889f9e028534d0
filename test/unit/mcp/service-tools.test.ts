import { expect, it } from 'vitest';
import { createServiceTools, type ServiceToolDeps } from '../../../src/mcp/service-tools.ts';
import { objectionTo } from '../../support/strict/judge.ts';

const NAMES = ['recall', 'remember', 'balance', 'estimate', 'think', 'call_vendor'] as const;
const tools = createServiceTools({ memory: {} } as ServiceToolDeps);

it.each(NAMES)('%s is offered with a schema that vendors of models take', (name) => {
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

it('the memory is not offered by a server without one', () => {
  const none = createServiceTools({ memory: undefined } as ServiceToolDeps);
  expect([none.offered('recall'), none.offered('remember')]).toEqual([undefined, undefined]);
});
