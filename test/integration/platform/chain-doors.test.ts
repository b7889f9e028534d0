import { type Hex, numberToHex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { authorizationStates } from '../../../src/platform/chain/authorization-states.ts';
import { createFacilitator } from '../../../src/platform/chain/facilitator.ts';
import { createRpc, RpcReverted, RpcUnavailable } from '../../../src/platform/chain/rpc.ts';
import { incoming, outgoing } from '../../../src/platform/chain/usdc.ts';
import { createFetch } from '../../../src/platform/egress/fetch.ts';
import { account, type Chain, startChain } from '../../support/chain/chain.ts';
import {
  signCancel,
  signTransfer,
  type Transfer,
  USDC,
  USDC_DOMAIN,
} from '../../support/chain/eip3009.ts';
import { MULTICALL3 } from '../../support/chain/install.ts';
import { type RpcProxy, startRpcProxy } from '../../support/chain/rpc-proxy.ts';

const payer = account(3);
const other = account(5);
const payee = account(4).address;
const lower = (address: string) => address.toLowerCase();
const [PAYER, OTHER, PAYEE] = [payer.address, other.address, payee].map(lower) as [
  string,
  string,
  string,
];

const outbound = createFetch();
let chain: Chain;
let node: RpcProxy;
beforeAll(async () => {
  chain = await startChain();
  node = await startRpcProxy(chain.url);
  await chain.fundUsdc(payer.address, 1_000_000_000n);
  await chain.fundUsdc(other.address, 1_000_000_000n);
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await outbound.close();
  await chain[Symbol.asyncDispose]();
});
afterEach(() => {
  node.mode = { kind: 'up' };
});

const rpc = () => createRpc({ url: node.url, fetch: outbound.fetch });

let nonces = 0;
/** An authorization that is good for an hour from the head on. */
async function authorization(wanted: Partial<Transfer> = {}): Promise<Transfer> {
  const { timestamp } = await chain.head();
  return {
    from: payer.address,
    to: payee,
    value: 10_000n,
    validAfter: 0n,
    validBefore: BigInt(timestamp + 3_600),
    nonce: numberToHex(++nonces, { size: 32 }),
    ...wanted,
  };
}

async function pay(by = payer, wanted: Partial<Transfer> = {}): Promise<{ nonce: Hex; hash: Hex }> {
  const transfer = await authorization({ from: by.address, ...wanted });
  const hash = await chain.submit(transfer, await signTransfer(by, transfer));
  return { nonce: transfer.nonce, hash };
}

/** What has happened since this block, up to the head. */
async function since(fromBlock: number) {
  const to = await rpc().head();
  return { fromBlock, to };
}
const nextBlock = async () => (await rpc().head()).number + 1;

describe('what leaves wallets on the chain', () => {
  it('outgoing transfers on the chain are found by payer, with the transfer that each authorization made', async () => {
    const fromBlock = await nextBlock();
    const mine = await pay();
    const theirs = await pay(other, { value: 7n });
    await pay(account(6), { value: 0n });
    const range = await since(fromBlock);
    const { used, canceled } = await outgoing(rpc(), USDC, [PAYER, OTHER], range);
    expect(canceled).toEqual([]);
    expect(used).toMatchObject([
      {
        authorizer: PAYER,
        nonce: mine.nonce,
        txHash: mine.hash,
        transfer: { to: PAYEE, valueRaw: 10_000n },
      },
      { authorizer: OTHER, nonce: theirs.nonce, transfer: { to: PAYEE, valueRaw: 7n } },
    ]);
    expect((await rpc().receipt(mine.hash))?.blockHash).toBe(used[0]?.blockHash);
  });

  it('outgoing transfers on the chain are told apart when one transaction carries many', async () => {
    const fromBlock = await nextBlock();
    const transfers = await Promise.all(
      [1n, 2n, 3n].map((value) =>
        authorization({ from: value === 2n ? other.address : payer.address, value }),
      ),
    );
    await chain.submitMany(
      await Promise.all(
        transfers.map(async (transfer) => ({
          transfer,
          signature: await signTransfer(transfer.value === 2n ? other : payer, transfer),
        })),
      ),
    );
    const { used } = await outgoing(rpc(), USDC, [PAYER, OTHER], await since(fromBlock));
    expect(used.map(({ authorizer, transfer }) => [authorizer, transfer?.valueRaw])).toEqual([
      [PAYER, 1n],
      [OTHER, 2n],
      [PAYER, 3n],
    ]);
    expect(new Set(used.map(({ txHash }) => txHash)).size).toBe(1);
  });

  it('outgoing transfers on the chain are told apart from cancelled authorizations', async () => {
    const fromBlock = await nextBlock();
    const { nonce } = await authorization();
    await chain.cancel(payer.address, nonce, await signCancel(payer, nonce));
    const found = await outgoing(rpc(), USDC, [PAYER], await since(fromBlock));
    expect(found).toMatchObject({ used: [], canceled: [{ authorizer: PAYER, nonce }] });
  });
});

describe('what comes into wallets on the chain', () => {
  it('incoming transfers on the chain are found by recipient, however they were sent', async () => {
    const fromBlock = await nextBlock();
    const plain = await chain.fundUsdc(payer.address, 55n);
    const paid = await pay(other, { to: payer.address, value: 66n });
    const found = await incoming(rpc(), USDC, [PAYER], await since(fromBlock));
    expect(found).toMatchObject([
      { to: PAYER, valueRaw: 55n, txHash: plain },
      { from: OTHER, to: PAYER, valueRaw: 66n, txHash: paid.hash },
    ]);
  });

  it('incoming transfers on the chain are not missed when a machine behind the node lags', async () => {
    const fromBlock = await nextBlock();
    await chain.fundUsdc(payer.address, 77n);
    const range = await since(fromBlock);
    for (const of of ['all', 'state'] as const) {
      node.mode = { kind: 'lagging', head: fromBlock - 1, of };
      await expect(incoming(rpc(), USDC, [PAYER], range), of).rejects.toThrow(RpcUnavailable);
    }
    node.mode = { kind: 'up' };
    expect(await incoming(rpc(), USDC, [PAYER], range)).toHaveLength(1);
  });

  it('incoming transfers on the chain are not read from a branch that the chain has left', async () => {
    const fromBlock = await nextBlock();
    await chain.fundUsdc(payer.address, 88n);
    const range = await since(fromBlock);
    await chain.reorg(1);
    await expect(incoming(rpc(), USDC, [PAYER], range)).rejects.toThrow(RpcUnavailable);
    expect(await incoming(rpc(), USDC, [PAYER], await since(fromBlock))).toEqual([]);
  });
});

describe('the state of authorizations on the chain', () => {
  it('the state of an authorization is the state at exactly the requested block', async () => {
    const used = await authorization();
    const canceled = await authorization();
    const open = await authorization();
    const before = await rpc().head();
    await chain.submit(used, await signTransfer(payer, used));
    await chain.cancel(payer.address, canceled.nonce, await signCancel(payer, canceled.nonce));
    const after = await rpc().head();
    const keys = [used, canceled, open].map(({ nonce }) => ({ wallet: PAYER, nonce }));
    const ask = (at: { hash: string }) => authorizationStates(rpc(), USDC, at, keys);
    expect(await ask(after)).toEqual([true, true, false]);
    expect(await ask(before)).toEqual([false, false, false]);
  });

  it('the state of an authorization is an error when its block is unknown, abandoned, or not there yet', async () => {
    const keys = [{ wallet: PAYER, nonce: numberToHex(1, { size: 32 }) }];
    const ask = (hash: string) => authorizationStates(rpc(), USDC, { hash }, keys);
    await expect(ask(numberToHex(12_345, { size: 32 }))).rejects.toThrow(RpcUnavailable);
    await chain.mine(2);
    const left = await rpc().head();
    node.mode = { kind: 'lagging', head: left.number - 1, of: 'state' };
    await expect(ask(left.hash)).rejects.toThrow(RpcUnavailable);
    node.mode = { kind: 'up' };
    expect(await ask(left.hash)).toHaveLength(1);
    await chain.reorg(1);
    await expect(ask(left.hash)).rejects.toThrow(RpcUnavailable);
  });

  it('the states of ten thousand authorizations are read in a few seconds with 20 calls of the node', async () => {
    const { nonce } = await pay();
    const head = await rpc().head();
    const keys = Array.from({ length: 10_000 }, (_, i) => ({
      wallet: PAYER,
      nonce: i === 9_999 ? nonce : numberToHex(10n ** 30n + BigInt(i), { size: 32 }),
    }));
    node.forget();
    const startedMs = performance.now();
    const states = await authorizationStates(rpc(), USDC, head, keys);
    expect(performance.now() - startedMs).toBeLessThan(8_000);
    expect(states.filter((state) => state === true)).toHaveLength(1);
    expect(states.at(-1)).toBe(true);
    expect(states.filter((state) => state === false)).toHaveLength(9_999);
    expect(node.count('eth_call')).toBe(20);
  });

  it('the states of authorizations are read one by one without a multicall contract', async () => {
    const { nonce } = await pay();
    const snapshot = await chain.snapshot();
    await chain.node.ask('anvil_setCode', MULTICALL3, '0x');
    await chain.mine();
    const head = await rpc().head();
    const keys = [nonce, numberToHex(10n ** 40n, { size: 32 })].map((one) => ({
      wallet: PAYER,
      nonce: one,
    }));
    expect(await authorizationStates(rpc(), USDC, head, keys)).toEqual([true, false]);
    await chain.revert(snapshot);
  });
});

describe('the facilitator on the chain', () => {
  const gasPayer = account(8);
  const PRIVATE_KEY = numberToHex(
    BigInt(`0x${Buffer.from(gasPayer.getHdKey().privateKey ?? []).toString('hex')}`),
    { size: 32 },
  );
  const facilitator = () =>
    createFacilitator({
      rpc: rpc(),
      privateKey: PRIVATE_KEY,
      usdc: USDC,
      chainId: USDC_DOMAIN.chainId,
      clock: systemClock,
      log: silentLog,
    });

  type Carrier = ReturnType<typeof facilitator>;

  async function submit(carrier: Carrier, wanted: Partial<Transfer> = {}): Promise<string> {
    const transfer = await authorization(wanted);
    const { from, to, value, validBefore, nonce } = transfer;
    const signature = await signTransfer(payer, transfer);
    return carrier.submitTransfer(
      {
        from: lower(from),
        to: lower(to),
        valueRaw: value,
        nonce,
        validAfter: 0,
        validBefore: Number(validBefore),
      },
      signature,
    );
  }

  const succeeded = async (hash: string) => (await chain.mined(hash as Hex)).status === '0x1';
  const isMined = async (hash: string) => (await rpc().receipt(hash)) !== undefined;

  it('the chain facilitator carries several transfers at once, and each arrives', async () => {
    const carrier = facilitator();
    const before = await chain.usdcOf(payee);
    const hashes = await Promise.all([1n, 2n, 3n].map((value) => submit(carrier, { value })));
    expect(await Promise.all(hashes.map(succeeded))).toEqual([true, true, true]);
    expect(await chain.usdcOf(payee)).toBe(before + 6n);
  });

  it('the chain facilitator numbers its transactions before any of them is mined', async () => {
    const carrier = facilitator();
    await chain.setAutomine(false);
    const hashes = await Promise.all([1n, 2n].map((value) => submit(carrier, { value })));
    expect(await Promise.all(hashes.map(isMined))).toEqual([false, false]);
    await chain.mine();
    await chain.setAutomine(true);
    expect(await Promise.all(hashes.map(succeeded))).toEqual([true, true]);
  });

  it('the chain facilitator goes on after a refused broadcast', async () => {
    const carrier = facilitator();
    await submit(carrier);
    node.mode = { kind: 'failing', methods: ['eth_sendRawTransaction'] };
    await expect(submit(carrier)).rejects.toThrow(RpcUnavailable);
    node.mode = { kind: 'up' };
    const hashes = await Promise.all([submit(carrier), submit(carrier)]);
    expect(await Promise.all(hashes.map(succeeded))).toEqual([true, true]);
  });

  it('the chain facilitator goes on after another process sent a transaction from the same account', async () => {
    const carrier = facilitator();
    await succeeded(await submit(carrier));
    await succeeded(await submit(facilitator()));
    expect(await succeeded(await submit(carrier))).toBe(true);
  });

  it('the chain facilitator reports a refused transfer in the words of the token, and sends nothing', async () => {
    const carrier = facilitator();
    const sent = await rpc().transactionCount(gasPayer.address);
    await expect(submit(carrier, { validBefore: 1n })).rejects.toThrow(/expired/);
    await expect(submit(carrier, { value: 10n ** 15n })).rejects.toThrow(RpcReverted);
    expect(await rpc().transactionCount(gasPayer.address)).toBe(sent);
  });
});
