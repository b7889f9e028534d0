import { createConnections } from '../../orchestrators/connections.ts';
import { createPlatformHooks } from '../../orchestrators/platform-hooks.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import type { LedgerParts } from './build-ledger.ts';
import type { World } from './world.ts';

/** Builds the connections to voice platforms and the receivers of what they send. */
export function buildOrchestrators(
  world: World,
  { ledger }: Pick<LedgerParts, 'ledger'>,
  { spendState }: { readonly spendState: SpendStateReader },
) {
  const sealingSecret = world.settings.providerKeySecret;
  return {
    orchestrators: createConnections({ ...world, sealingSecret }),
    platformHooks: createPlatformHooks({ ...world, ledger, spendState, sealingSecret }),
  };
}
