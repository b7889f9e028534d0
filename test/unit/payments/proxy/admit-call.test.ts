import { describe, expect, it } from 'vitest';
import {
  type HoldRefusal,
  type Spender,
  stopsAgent,
} from '../../../../src/ledger/rules/requests.ts';
import type { SpendState } from '../../../../src/ledger/rules/spend-state.ts';
import { admitCall, viewAgent } from '../../../../src/payments/proxy/admit-call.ts';
import type { Policy } from '../../../../src/policy/policy.ts';
import { aPolicy } from '../../../support/a-policy.ts';
import { type StandingsWish, standingsReader, standingsWith } from '../../../support/standings.ts';

const stopped: HoldRefusal[] = [];
const ledger = {
  async enforce(_: number, refusal: HoldRefusal) {
    if (!stopsAgent(refusal)) return refusal;
    stopped.push(refusal);
    return { ...refusal, suspended: true };
  },
};

const SPENDER: Spender = { agentId: 1, keyId: 1, keyRootId: 1 };

const admitted = (
  wanted: StandingsWish | undefined,
  spender: Partial<Spender> = {},
  host = 'api.vendor.example',
  lastRaw?: bigint,
) => {
  const view = viewAgent(standingsReader(wanted && standingsWith(wanted)), SPENDER.agentId);
  return admitCall(ledger, view, { ...SPENDER, ...spender }, { host, lastRaw });
};

const refused = (status: number, error: string, fields: object = {}) =>
  expect.objectContaining({ status, error, fields: expect.objectContaining(fields) });

const api = (change: Partial<Policy> = {}) =>
  aPolicy({ kind: 'api', matchKey: '.vendor.example', matchKind: 'host_suffix', ...change });

describe('a call before anything is sent', () => {
  it('an admitted proxy call has the account and the wallet of its agent', async () => {
    const rules = { accountId: 'acct_7', walletAddress: '0xab' };
    expect(await admitted({ rules })).toMatchObject({ accountId: 'acct_7', wallet: '0xab' });
    expect(await admitted({ rules: { walletAddress: null } })).toMatchObject({ wallet: null });
  });

  it('a proxy call is admitted without a balance, since its target may be free', async () => {
    const poor = { spendableRaw: 0n, walletRaw: 0n, own: [[api(), 0n]] } as const;
    expect(await admitted(poor)).toMatchObject({ wallet: '0x01' });
  });

  it('a proxy call is refused where a cap that applies to it is used up, and not before', async () => {
    expect(await admitted({ own: [[api(), 999n]] })).toBeDefined();
    await expect(admitted({ own: [[api({ id: 3 }), 1_000n]] })).rejects.toEqual(
      refused(402, 'spend_limit_exceeded', { policyId: 3, spent: '1000', limit: '1000' }),
    );
    await expect(admitted({ team: [[api({ agentId: null }), 1_000n]] })).rejects.toEqual(
      refused(402, 'spend_limit_exceeded', { kind: 'api' }),
    );
    expect(await admitted({ own: [[api(), 1_000n]] }, {}, 'other.example')).toBeDefined();
  });

  it('a proxy call against a used-up kill switch suspends its agent, with an empty balance too', async () => {
    stopped.length = 0;
    const own = [[api({ id: 4, action: 'suspend_agent' }), 1_000n]] as const;
    await expect(admitted({ spendableRaw: 0n, own })).rejects.toEqual(
      refused(402, 'spend_limit_exceeded', { policyId: 4, auto_suspended: true }),
    );
    expect(stopped).toHaveLength(1);
  });

  it('a proxy call refused by a cap shows the last price of its vendor, or null where there is none', async () => {
    const own = [[api({ id: 3 }), 1_000n]] as const;
    await expect(admitted({ own }, {}, 'api.vendor.example', 7_000n)).rejects.toEqual(
      refused(402, 'spend_limit_exceeded', { required: '7000', available: '0' }),
    );
    await expect(admitted({ own })).rejects.toEqual(
      refused(402, 'spend_limit_exceeded', { required: null, available: '0' }),
    );
  });

  it('a proxy call counts under the caps of its task and of its key’s root', async () => {
    const task = [[aPolicy({ matchKey: 't1' }), 1_000n]] as const;
    expect(await admitted({ own: task })).toBeDefined();
    await expect(admitted({ own: task }, { taskId: 't1' })).rejects.toEqual(
      refused(402, 'spend_limit_exceeded', { kind: 'task' }),
    );
    const key = [[aPolicy({ kind: 'key', matchKey: '9' }), 1_000n]] as const;
    expect(await admitted({ own: key })).toBeDefined();
    await expect(admitted({ own: key }, { keyRootId: 9 })).rejects.toEqual(
      refused(402, 'spend_limit_exceeded', { kind: 'key' }),
    );
  });

  it('the value of a task raises the cap of its proxy calls up to the ceiling', async () => {
    const own = [[api({ limitCeilingRaw: 2_000n }), 1_000n]] as const;
    await expect(admitted({ own })).rejects.toEqual(refused(402, 'spend_limit_exceeded'));
    expect(await admitted({ own }, { taskValueBps: 20_000 })).toBeDefined();
  });

  it('a cap on vendors refuses no proxy call before the vendor is known', async () => {
    const vendor = aPolicy({ kind: 'vendor', matchKey: '0xaa', matchKind: 'recipient' });
    expect(await admitted({ own: [[vendor, 1_000n]] })).toBeDefined();
  });

  it('a proxy call of an agent with a host allowlist is refused for a host that has no policy', async () => {
    const rules = { allowlistMode: 'host' } as const;
    await expect(admitted({ rules })).rejects.toEqual(
      refused(403, 'host_not_allowlisted', { host: 'api.vendor.example' }),
    );
    expect(await admitted({ rules, own: [[api(), 0n]] })).toBeDefined();
    expect(await admitted({ rules, team: [[api({ agentId: null }), 0n]] })).toBeDefined();
    // The payee is asked about once the vendor has named it.
    expect(await admitted({ rules: { allowlistMode: 'vendor' } })).toBeDefined();
  });

  it('a proxy call of a suspended or unknown agent is refused', async () => {
    const own = [[api(), 0n]] as const;
    await expect(admitted({ own, rules: { status: 'suspended' } })).rejects.toEqual(
      refused(403, 'agent_suspended'),
    );
    await expect(admitted(undefined)).rejects.toMatchObject({ status: 401 });
  });
});

describe('a call of an agent that is remembered', () => {
  const used = standingsWith({ own: [[api(), 1_000n]] });
  const unused = standingsWith({ own: [[api(), 0n]] });
  const admit = (now: SpendState | undefined, remembered: SpendState) => {
    let reads = 0;
    const reader = standingsReader(now, remembered);
    const read = (agentId: number) => {
      reads++;
      return reader.read(agentId);
    };
    const view = viewAgent({ ...reader, read }, SPENDER.agentId);
    const call = admitCall(ledger, view, SPENDER, {
      host: 'api.vendor.example',
      lastRaw: undefined,
    });
    return call.then(
      ({ spendState }) => ({ spendState, reads }),
      (error: unknown) => ({ error, reads }),
    );
  };

  it('a proxy call that the remembered spend state admits reads nothing from the database', async () => {
    expect(await admit(used, unused)).toEqual({ spendState: unused, reads: 0 });
  });

  it('a proxy call is refused only by the current spend state, never by the remembered one', async () => {
    expect(await admit(unused, used)).toEqual({ spendState: unused, reads: 1 });
    expect(await admit(used, used)).toEqual({
      error: refused(402, 'spend_limit_exceeded'),
      reads: 1,
    });
  });

  it('admission reads the spend state again when the remembered one has no wallet', async () => {
    const without = standingsWith({ rules: { walletAddress: null } });
    expect(await admit(unused, without)).toEqual({ spendState: unused, reads: 1 });
  });
});
