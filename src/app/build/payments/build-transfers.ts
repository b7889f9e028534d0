import { ConfigError } from '../../../config/config-error.ts';
import { startWorkers, type Worker } from '../../../kernel/schedule.ts';
import type { Teardown } from '../../../kernel/teardown.ts';
import { createCashOuts } from '../../../payments/cash-outs/cash-outs.ts';
import { followCashOuts } from '../../../payments/cash-outs/follow-cash-out.ts';
import { createOnramp } from '../../../payments/ramp/onramp.ts';
import { createRamp, type Ramp } from '../../../payments/ramp/ramp.ts';
import { readRampKey } from '../../../payments/ramp/ramp-key.ts';
import { createTransfers } from '../../../payments/transfers/transfers.ts';
import { watchTransfers } from '../../../payments/transfers/watch-transfers.ts';
import type { AccountParts } from '../build-accounts.ts';
import type { ChainParts } from '../build-chain.ts';
import type { LedgerParts } from '../build-ledger.ts';
import type { World } from '../world.ts';

type Parts = {
  readonly accounts: Pick<AccountParts, 'wallets' | 'spendState' | 'payouts'>;
  readonly chain: Pick<ChainParts, 'openRpc' | 'balances' | 'facilitator'>;
};

/** Builds what moves money in and out: transfers, the purchases of USDC and the cash-outs. */
export function buildTransfers(
  world: World,
  { ledger }: Pick<LedgerParts, 'ledger'>,
  { accounts, chain }: Parts,
  teardown: Teardown,
) {
  const { sql, settings } = world;
  const { usdc, chainId, confirmations, reconcileSeconds } = settings.chain;
  const view = chain.openRpc && { rpc: chain.openRpc, usdc, confirmations };
  const { payouts, spendState, wallets } = accounts;
  const ramp = openRamp(world);
  const deps = {
    ...world,
    ledger,
    spendState,
    payouts,
    balances: chain.balances,
    canPay: wallets !== undefined && chain.facilitator !== undefined,
    view,
    terms: { usdc, chainId },
    ramp,
  };
  const workers: Worker[] = [
    {
      name: 'watch-transfers',
      everyMs: reconcileSeconds * 1_000,
      tick: () => watchTransfers({ sql, view }),
    },
    {
      name: 'follow-cash-outs',
      everyMs: reconcileSeconds * 1_000,
      tick: () => followCashOuts(deps),
    },
  ];
  teardown.use('transfer workers', startWorkers(world, workers));
  return {
    transfers: createTransfers(deps),
    cashOuts: createCashOuts(deps),
    onramp: createOnramp({ ...world, ramp }),
  };
}

/** Opens the provider of the on- and off-ramp; undefined when none is configured. Throws ConfigError for an unreadable key. */
function openRamp(world: World): Ramp | undefined {
  const { ramp } = world.settings;
  if (ramp === undefined) return undefined;
  const key = readRampKey(ramp.keyId, ramp.keySecret);
  if (key === undefined) {
    throw new ConfigError(
      'ONRAMP_KEY_SECRET must be 64 bytes of Ed25519 in base64, or a P-256 key in PEM',
    );
  }
  return createRamp({ ...world, ...ramp, key });
}
