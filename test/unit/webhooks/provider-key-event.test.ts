import { describe, expect, it } from 'vitest';
import {
  providerKeyCreated,
  providerKeyDeleted,
  providerKeyUpdated,
} from '../../../src/webhooks/provider-key-event.ts';

describe('events of a provider key', () => {
  it('provider key events show only the masked prefix and the published fields of a key', () => {
    const row = { id: 7, provider: 'openai', prefix: 'sk-p...', label: 'ci', enabled: false };
    const origin = { accountId: 'acct_9f1c20b7d4e1', actorWallet: '0xdev' };
    const names = [providerKeyCreated, providerKeyUpdated, providerKeyDeleted].map((make) => {
      const { name, ...event } = make(origin, row);
      expect(event).toEqual({
        accountId: 'acct_9f1c20b7d4e1',
        agentWallet: null,
        correlationId: null,
        payload: {
          provider: 'openai',
          keyPrefix: 'sk-p...',
          label: 'ci',
          enabled: false,
          actorWallet: '0xdev',
        },
      });
      return name;
    });
    expect(names).toEqual(['provider_key.created', 'provider_key.updated', 'provider_key.deleted']);
  });
});
