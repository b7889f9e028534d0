import { BRAND } from '../../../kernel/ids.ts';
import { type Api, bearer } from './api.ts';

export type FundedAgent = {
  readonly agentId: number;
  readonly agentKey: string;
  readonly developerKey: string;
  readonly spendableRaw: bigint;
};

/** Creates a wallet and returns its address and the headers with which it signs in. */
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

/** Signs in with a new wallet, and returns a key of its account with write access. */
async function openAccount(
  api: Api,
  { name, nowSeconds, said }: { name: string; nowSeconds: number; said(line: string): void },
): Promise<string> {
  const { address, headers } = await newWalletSignature(nowSeconds);
  await api.call('POST', '/v1/developer/auth/verify', { headers });
  said(`wallet ${address} signed in: a new account`);
  const made = await api.call<{ key: string }>('POST', '/v1/developer/keys', {
    headers,
    body: { label: name, permissions: 'read_write' },
  });
  return made.key;
}

/**
 * Sets up an agent over HTTP as a developer would: signs in with a wallet, creates a developer key, an agent and an agent key.
 * The operator then credits the agent.
 */
export async function fundAgent(
  api: Api,
  options: {
    name: string;
    amountRaw: bigint;
    adminApiKey: string;
    nowSeconds: number;
    /** Key of the account that gets the agent. Undefined: a new account is created. */
    developerKey?: string | undefined;
    said(line: string): void;
  },
): Promise<FundedAgent> {
  const developerKey = options.developerKey ?? (await openAccount(api, options));
  const agent = await api.call<{ agentId: number }>('POST', '/v1/developer/agents', {
    headers: bearer(developerKey),
    body: { name: options.name },
  });
  const minted = await api.call<{ key: string; keyPrefix: string }>(
    'POST',
    `/v1/developer/agents/${agent.agentId}/keys`,
    { headers: bearer(developerKey), body: { label: options.name } },
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
    developerKey,
    spendableRaw,
  };
}

/** Reads the amount that the agent may spend now, with the agent's own key. */
export async function balanceOf(api: Api, agentKey: string): Promise<bigint> {
  const balance = await api.call<{ spendableRaw: string }>('GET', '/v1/agents/balance', {
    headers: bearer(agentKey),
  });
  return BigInt(balance.spendableRaw);
}
