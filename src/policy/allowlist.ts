import { matches } from './match.ts';
import { isEffective, type Policy } from './policy.ts';

/** Destinations of paid calls that must be listed in a policy of the agent or its team: hosts, vendors, both or neither. */
export type AllowlistMode = 'off' | 'host' | 'vendor' | 'both';

export type AllowlistRefusal =
  | { readonly reason: 'host_not_allowlisted'; readonly host: string }
  | {
      readonly reason: 'vendor_not_allowlisted';
      readonly recipient: string;
      readonly host: string | null;
    };

/**
 * Returns the allowlist's refusal of a paid call; undefined when it is allowed. The host is checked before anything is sent; a
 * null payee is checked later, when the vendor has named it.
 */
export function refusalOfDestination(
  mode: AllowlistMode,
  policies: readonly Policy[],
  destination: { readonly host: string; readonly payee: string | null },
  nowSec: number,
): AllowlistRefusal | undefined {
  const { host, payee } = destination;
  const facts = { keyRootId: null, taskId: null, host, payee };
  const stands = (kind: 'api' | 'vendor') =>
    policies.some((p) => p.kind === kind && isEffective(p, nowSec) && matches(p, facts));
  if ((mode === 'host' || mode === 'both') && !stands('api')) {
    return { reason: 'host_not_allowlisted', host };
  }
  if (payee !== null && (mode === 'vendor' || mode === 'both') && !stands('vendor')) {
    return { reason: 'vendor_not_allowlisted', recipient: payee, host };
  }
  return undefined;
}
