import { describe, expect, it } from 'vitest';
import { developerRecord } from '../../../../src/accounts/developers/developer.ts';

describe('developerRecord', () => {
  it('a developer record shows the account by its wallet, with times as text', () => {
    expect(
      developerRecord({
        accountId: 'acct_9f1c20b7d4e1',
        wallet: `0x${'ab'.repeat(20)}`,
        displayName: null,
        email: null,
        sessionGeneration: 0,
        aiToolConnectedAt: null,
        createdAt: new Date(0),
      }),
    ).toEqual({
      walletAddress: `0x${'ab'.repeat(20)}`,
      displayName: null,
      email: null,
      accountId: 'acct_9f1c20b7d4e1',
      createdAt: '1970-01-01T00:00:00.000Z',
    });
  });
});
