import { describe, expect, it } from 'vitest';
import { developerKeyRecord } from '../../../../src/accounts/keys/key.ts';
import { agentKeyRecord } from '../../../../src/accounts/management/agent-key-record.ts';

const KEY = {
  id: 31,
  prefix: 'svc_live_Jx4q...',
  label: 'ci',
  permissions: 'read_write',
  createdAt: new Date(0),
  lastUsedAt: null,
} as const;

describe('key records', () => {
  it('a developer key record has the id and prefix in both published spellings', () => {
    expect(developerKeyRecord({ ...KEY, expiresAt: new Date(60_000) })).toEqual({
      id: 31,
      keyId: '31',
      keyPrefix: 'svc_live_Jx4q...',
      prefix: 'svc_live_Jx4q...',
      label: 'ci',
      permissions: 'read_write',
      createdAt: '1970-01-01T00:00:00.000Z',
      expiresAt: '1970-01-01T00:01:00.000Z',
      lastUsedAt: null,
    });
  });

  it('key records show only the published members of a key, never its digest or secret', () => {
    const stored = { ...KEY, digest: 'secret', key: 'secret', expiresAt: null };
    const ofAgent = { ...stored, rootId: 31, promptCaching: 'off' } as const;
    expect(
      JSON.stringify([developerKeyRecord(stored), agentKeyRecord(ofAgent, null)]),
    ).not.toContain('secret');
  });
});
