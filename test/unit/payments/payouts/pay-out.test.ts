import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { payOut } from '../../../../src/payments/payouts/pay-out.ts';
import type { ClaimedPayout } from '../../../../src/payments/payouts/payout.ts';
import type { ChainVerdict } from '../../../../src/payments/reconcile/judge-by-chain.ts';
import { RpcReverted, RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';
import { type Authorization, usdcDomain } from '../../../../src/x402/authorization.ts';
import { word } from '../../../support/fakes/json-rpc-node.ts';

const DOMAIN = usdcDomain(`0x${'cc'.repeat(20)}`);
const PAYOUT: ClaimedPayout = {
  nonce: word(1),
  agentId: 7,
  accountId: 'acct_1',
  kind: 'close',
  amountRaw: 500n,
  wallet: `0x${'a1'.repeat(20)}`,
  payee: `0x${'de'.repeat(20)}`,
  attempts: 1,
  createdMs: 1_000_000,
  validBefore: 9_999,
};

/** Everything that a payout meets on its way; each may be told to fail. */
function setUp(
  wanted: {
    readonly signing?: Error;
    readonly submitting?: Error;
    readonly writing?: Error;
    readonly verdict?: ChainVerdict;
    readonly booking?: Error;
  } = {},
) {
  const seen = {
    signed: [] as { reference: string; authorization: Authorization }[],
    submitted: [] as { authorization: Authorization; signature: string }[],
    written: [] as unknown[],
    paid: [] as unknown[],
    judged: [] as unknown[],
    logged: [] as { level: number; msg: string }[],
  };
  const fail = (error: Error | undefined) => {
    if (error !== undefined) throw error;
  };
  const deps = {
    domain: DOMAIN,
    sender: {
      wallets: {
        async signTransfer(reference: string, domain: unknown, authorization: Authorization) {
          fail(wanted.signing);
          expect(domain).toBe(DOMAIN);
          seen.signed.push({ reference, authorization });
          return '0x5a';
        },
      },
      facilitator: {
        async submitTransfer(authorization: Authorization, signature: string) {
          seen.submitted.push({ authorization, signature });
          fail(wanted.submitting);
          return word(77);
        },
      },
    },
    judge: {
      async ask(payment: unknown) {
        seen.judged.push({ payment });
        return wanted.verdict ?? { kind: 'undecided' as const };
      },
    },
    ledger: {
      async paid(payment: unknown) {
        fail(wanted.booking);
        seen.paid.push(payment);
      },
    },
    async submitted(nonce: string, txHash: string) {
      fail(wanted.writing);
      seen.written.push({ nonce, txHash });
    },
    log: pino({ base: null }, { write: (line) => seen.logged.push(JSON.parse(line)) }),
  };
  return { deps, seen };
}

const [WARN, ERROR] = [40, 50];
const USED = new RpcReverted('execution reverted: FiatTokenV2: authorization is used or canceled');

describe('one payout', () => {
  it('a payout is signed by its agent’s wallet with its one nonce and handed to the submitter', async () => {
    const { deps, seen } = setUp();
    await payOut(deps, PAYOUT);
    const authorization = {
      from: PAYOUT.wallet,
      to: PAYOUT.payee,
      valueRaw: 500n,
      nonce: PAYOUT.nonce,
      validAfter: 0,
      validBefore: 9_999,
    };
    expect(seen.signed).toEqual([{ reference: 'acct_1:7', authorization }]);
    expect(seen.submitted).toEqual([{ authorization, signature: '0x5a' }]);
    expect(seen.written).toEqual([{ nonce: PAYOUT.nonce, txHash: word(77) }]);
    expect(seen.paid).toEqual([]);
  });

  it('a payout that is signed again changes only its validBefore', async () => {
    const { deps, seen } = setUp();
    await payOut(deps, PAYOUT);
    await payOut(deps, { ...PAYOUT, attempts: 2, validBefore: 99_999 });
    const [first, second] = seen.submitted.map(({ authorization }) => authorization);
    expect(second).toEqual({ ...first, validBefore: 99_999 });
  });

  it.each([
    ['cannot be signed', { signing: new Error('the wallet provider is away') }],
    ['cannot be handed over', { submitting: new RpcUnavailable('away') }],
    ['cannot be written down', { writing: new Error('the database is away') }],
  ])('a payout that %s stays open for its next attempt and logs a warning', async (_, wanted) => {
    const { deps, seen } = setUp(wanted);
    await payOut(deps, PAYOUT);
    expect([seen.written, seen.paid, seen.judged]).toEqual([[], [], []]);
    expect(seen.logged).toMatchObject([{ level: WARN }]);
  });

  it('a payout whose nonce the token reports as used waits for the reconciler and logs nothing', async () => {
    const { deps, seen } = setUp({ submitting: USED });
    await payOut(deps, PAYOUT);
    expect(seen).toMatchObject({ written: [], paid: [], logged: [] });
  });

  it('a payout that the chain shows as carried out after a refused submission is booked with its transaction', async () => {
    const verdict = { kind: 'used', txHash: word(5) } as const;
    // Not every node tells the reason of a refusal.
    const { deps, seen } = setUp({ submitting: new RpcReverted('execution reverted'), verdict });
    await payOut(deps, PAYOUT);
    const { nonce, agentId, amountRaw } = PAYOUT;
    expect(seen.paid).toEqual([{ agentId, nonce, amountRaw, txHash: word(5) }]);
    expect(seen.judged).toMatchObject([
      { payment: { nonce, valueRaw: 500n, payee: PAYOUT.payee } },
    ]);
    expect(seen.logged).toEqual([]);
  });

  it.each([
    ['is not booked where the database is away', { booking: new Error('away') }, WARN],
    ['is undecided', { verdict: { kind: 'undecided' } as const }, ERROR],
    ['was called off', { verdict: { kind: 'void' } as const }, ERROR],
  ])(
    'a payout that the token refuses and that %s stays open and is logged',
    async (_, wanted, level) => {
      const used = { kind: 'used', txHash: word(5) } as const;
      const submitting = new RpcReverted(
        'execution reverted: ERC20: transfer amount exceeds balance',
      );
      const { deps, seen } = setUp({ submitting, verdict: used, ...wanted });
      await payOut(deps, PAYOUT);
      expect([seen.written, seen.paid]).toEqual([[], []]);
      expect(seen.logged).toMatchObject([{ level }]);
    },
  );
});
