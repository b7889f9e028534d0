import { createHash } from 'node:crypto';
import { assert } from '../../kernel/assert.ts';
import { addressOfPrivateKey } from '../../platform/chain/account.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Delegation, OperatorPermission } from './delegation.ts';
import { saveOperatorPermission } from './local-delegation-store.ts';

/**
 * Creates a delegation without a chain: the permission is a database row, and its hash is computed from its contents, so that
 * the same grant has the same hash.
 */
export function createLocalDelegation(deps: {
  readonly sql: Sql;
  /** Private key of the facilitator: `0x` and 64 hex digits. */
  readonly facilitatorPrivateKey: string;
}): Delegation {
  const operator = () =>
    addressOfPrivateKey(Buffer.from(deps.facilitatorPrivateKey.slice(2), 'hex'));

  return {
    async grant(permission) {
      const address = await operator();
      assert(address !== undefined, 'the facilitator key is a private key');
      const txHash = hashOf(permission, address);
      await saveOperatorPermission(deps.sql, { ...permission, operator: address, txHash });
      return txHash;
    },
  };
}

function hashOf(permission: OperatorPermission, operator: string): string {
  const { wallet, borrowLimitRaw, maxRateBps, expiry } = permission;
  const text = ['setOperator', operator, wallet, borrowLimitRaw, maxRateBps, expiry].join('|');
  return `0x${createHash('sha256').update(text).digest('hex')}`;
}
