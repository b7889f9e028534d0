import { describe, expect, it } from 'vitest';
import { agentCreated, keyCreated, keyRotated } from '../../../src/webhooks/event.ts';

const ORIGIN = { accountId: 'acct_9f1c20b7d4e1', actorWallet: '0xdev' };
const KEY = { keyId: 7, keyPrefix: 'svc_live_Jx4q...', label: null };

describe('events', () => {
  it('an event of a developer key names no agent, so that only global webhooks get it', () => {
    expect(keyCreated(ORIGIN, KEY)).toEqual({
      name: 'key.created',
      accountId: 'acct_9f1c20b7d4e1',
      agentWallet: null,
      correlationId: null,
      payload: {
        keyId: 7,
        keyType: 'developer',
        keyPrefix: 'svc_live_Jx4q...',
        label: null,
        status: 'active',
        actorWallet: '0xdev',
      },
    });
  });

  it('an event of an agent key names its agent, and the event of a rotation the previous key', () => {
    const agent = { agentId: 42, walletAddress: '0xagent' };
    const event = keyRotated(ORIGIN, { ...KEY, agent }, 6);
    expect(event).toMatchObject({ name: 'key.rotated', agentWallet: '0xagent' });
    expect(event.payload).toMatchObject({
      keyType: 'agent',
      rotatedFromKeyId: 6,
      agentId: 42,
      agentWalletAddress: '0xagent',
    });
  });

  it('the event of a new agent has its wallet address under both names', () => {
    const { payload } = agentCreated(ORIGIN, {
      agentId: 42,
      name: 'caller',
      walletAddress: '0xagent',
      fundingMode: 'wallet',
      delegationTxHash: null,
    });
    expect(payload).toEqual({
      agentId: 42,
      name: 'caller',
      agentWalletAddress: '0xagent',
      managedWalletAddress: '0xagent',
      fundingMode: 'wallet',
      delegationTxHash: null,
      status: 'active',
      actorWallet: '0xdev',
    });
  });
});
