import { expect, it } from 'vitest';
import { requestSecret } from '../../../../../src/phone/calls/opening/request-secret.ts';

it('the request secret of an agent differs for each agent, version and server secret', () => {
  const secrets = [
    requestSecret('s', { agentId: 1, version: 1 }),
    requestSecret('s', { agentId: 1, version: 2 }),
    requestSecret('s', { agentId: 2, version: 1 }),
    requestSecret('t', { agentId: 1, version: 1 }),
  ];
  expect(new Set(secrets).size).toBe(4);
  expect(requestSecret('s', { agentId: 1, version: 1 })).toBe(secrets[0]);
  for (const secret of secrets) expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
});
