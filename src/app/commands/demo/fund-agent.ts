import { BRAND } from '../../../kernel/ids.ts';
import { type Api, bearer } from './api.ts';

export type FundedAgent = {
  readonly agentId: number;
  readonly agentKey: string;
  readonly developerKey: string;
  readonly walletAddress: string;
  readonly spendableRaw: bigint;
};

/** The headers by which a wallet signs in; the wallet is made for the occasion. */
async function newWalletSignature(nowSeconds: number) {
  const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts');
  const wallet = privateKeyToAccount(generatePrivateKey());
  const signature = await wallet.signMessage({
    message: `${BRAND.signedText}\nTimestamp: ${nowSeconds}`,
  });
  return {
    address: wallet.address,
    headers: {
      'x-wallet-address': wallet.address,
      'x-signature': signature,
      'x-timestamp': String(nowSeconds),
    },
  };
}

/**
 * Does over HTTP what a developer would: a wallet signs in, makes a developer key, an agent and an agent
 * key; the operator credits the agent.
 */
export async function fundAgent(
  api: Api,
  options: {
    name: string;
    amountRaw: bigint;
    adminApiKey: string;
    nowSeconds: number;
    said(line: string): void;
  },
): Promise<FundedAgent> {
  const { address, headers } = await newWalletSignature(options.nowSeconds);
  await api.call('POST', '/v1/developer/auth/verify', { headers });
  options.said(`wallet ${address} signed in`);

  const developerKey = await api.call<{ key: string }>('POST', '/v1/developer/keys', {
    headers,
    body: { label: options.name, permissions: 'read_write' },
  });
  const agent = await api.call<{ agentId: number }>('POST', '/v1/developer/agents', {
    headers: bearer(developerKey.key),
    body: { name: options.name },
  });
  const minted = await api.call<{ key: string; keyPrefix: string }>(
    'POST',
    `/v1/developer/agents/${agent.agentId}/keys`,
    { headers: bearer(developerKey.key), body: { label: options.name } },
  );
  options.said(`agent ${agent.agentId} ("${options.name}") has key ${minted.keyPrefix}`);

  await api.call('POST', `/v1/admin/agents/${agent.agentId}/credit`, {
    headers: { 'x-admin-key': options.adminApiKey },
    body: {
      amountRaw: options.amountRaw.toString(),
      reference: `first-funds-of-agent-${agent.agentId}`,
    },
  });
  const spendableRaw = await balanceOf(api, minted.key);
  return {
    agentId: agent.agentId,
    agentKey: minted.key,
    developerKey: developerKey.key,
    walletAddress: address,
    spendableRaw,
  };
}

/** What the agent may spend now, as the agent itself reads it. */
export async function balanceOf(api: Api, agentKey: string): Promise<bigint> {
  const balance = await api.call<{ spendableRaw: string }>('GET', '/v1/agents/balance', {
    headers: bearer(agentKey),
  });
  return BigInt(balance.spendableRaw);
}
