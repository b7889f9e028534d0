import { requireAgent } from '../../accounts/agents/require-agent.ts';
import { ownerWalletOf } from '../../accounts/developers/owner-wallet.ts';
import { agentErrors } from '../../accounts/errors.ts';
import { uuidOf } from '../../kernel/ids.ts';
import { type Random, randomHex } from '../../kernel/random.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { rampErrors, transferErrors } from '../errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import { findOnrampSessions, insertOnrampSession, isAgentWallet } from './onramp-store.ts';
import type { Ramp } from './ramp.ts';

export type PurchaseRequest = {
  readonly destinationAddress: string;
  readonly destinationScope: 'agent' | 'account';
  readonly agentId?: number | undefined;
  readonly presetFiatAmount?: number | undefined;
};

export type Onramp = ReturnType<typeof createOnramp>;

/** Creates the sessions in which developers buy USDC at the provider, into their own wallets. */
export function createOnramp(deps: {
  readonly sql: Sql;
  readonly random: Random;
  readonly ramp: Ramp | undefined;
}) {
  const { sql, random, ramp } = deps;
  return {
    async open(
      { accountId, clientIp }: { readonly accountId: string; readonly clientIp: string },
      wanted: PurchaseRequest,
    ) {
      const agentWallet = await findTarget(sql, accountId, wanted);
      const address = wanted.destinationAddress.toLowerCase();
      if (address !== (await ownerWalletOf(sql, accountId))) {
        const isCustodial = await isAgentWallet(sql, address);
        throw isCustodial ? rampErrors.custodialDestination() : rampErrors.foreignDestination();
      }
      if (ramp === undefined) throw rampErrors.notConfigured();
      const { channelId, token } = await ramp.makeToken({ address, clientIp });
      const id = uuidOf(randomHex(random, 16));
      const { agentId = null, presetFiatAmount } = wanted;
      const fiatAmount = presetFiatAmount?.toString() ?? null;
      await insertOnrampSession(sql, { id, accountId, agentId, destination: address, fiatAmount });
      return {
        sessionToken: token,
        channelId,
        correlationId: id,
        onrampId: id,
        mode: 'hosted' as const,
        nonCustodialAddress: address,
        agentWalletAddress: agentWallet,
      };
    },

    async list(
      accountId: string,
      page: { readonly recoveryOnly: boolean; readonly limit: number },
    ) {
      const limit = Math.min(Math.max(page.limit, 1), PAYMENT_LIMITS.ramp.sessionsPage.most);
      return findOnrampSessions(sql, accountId, { ...page, limit });
    },
  };
}

/** Returns the wallet of the agent that the purchase is for; null for the account itself. */
async function findTarget(
  sql: Sql,
  accountId: string,
  { agentId, destinationScope }: PurchaseRequest,
): Promise<string | null> {
  if (agentId === undefined) {
    if (destinationScope === 'account') return null;
    throw transferErrors.fieldMissing('agentId', 'to the scope `agent`');
  }
  const { status, walletAddress } = await requireAgent(sql, { agentId, accountId });
  if (status === 'closed') throw transferErrors.agentClosed();
  if (walletAddress === null) throw agentErrors.notProvisioned();
  return walletAddress;
}
