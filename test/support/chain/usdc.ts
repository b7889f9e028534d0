import {
  type Address,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  hexToBool,
  keccak256,
  multicall3Abi,
  numberToHex,
  parseEventLogs,
  type RpcLog,
} from 'viem';
import { type Transfer, transferCall, USDC, USDC_ABI } from './eip3009.ts';
import { MULTICALL3 } from './install.ts';
import { type JsonRpc, NodeError } from './json-rpc.ts';
import type { Senders, TxRequest } from './senders.ts';

/** One movement of USDC, as the contract logged it. */
export type TransferLog = {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly block: number;
  readonly logIndex: number;
  readonly txHash: Hex;
};

export type Submission = {
  readonly form?: 'bytes' | 'vrs';
  /** Who pays the gas: an account of the node. */
  readonly from?: Address;
};

export type Usdc = {
  /** Sends USDC from the bank, as a depositor would: the contract logs it. */
  fundUsdc(to: Address, raw: bigint): Promise<Hex>;
  /** Writes a balance without any log. */
  setUsdc(address: Address, raw: bigint): Promise<void>;
  usdcOf(address: Address): Promise<bigint>;
  /** True when the nonce is used and when it is cancelled. */
  authorizationState(authorizer: Address, nonce: Hex): Promise<boolean>;
  /** Submits an authorization to the chain, with any signer. A refused one is mined as failed. */
  submit(transfer: Transfer, signature: Hex, how?: Submission): Promise<Hex>;
  /** Carries thousands to the chain in a few transactions; those that the contract refuses are left out. */
  submitMany(signed: readonly { transfer: Transfer; signature: Hex }[]): Promise<Hex[]>;
  cancel(authorizer: Address, nonce: Hex, signature: Hex): Promise<Hex>;
  /** What the contract would say against it now; nothing when it would take it. */
  refusalOf(transfer: Transfer, signature: Hex): Promise<string | undefined>;
  transferLogs(by: {
    readonly from?: Address;
    readonly to?: Address;
    readonly fromBlock?: number;
  }): Promise<TransferLog[]>;
};

/** Enough for any call of the token, so that one that fails is mined as well. */
const GAS = numberToHex(200_000);
/** As many as fit into a block's gas, which one transaction may use up. */
const BATCH = 250;
const BATCH_GAS = numberToHex(25_000_000);
const BALANCES_SLOT = 9n;

/** The transaction that carries an authorization, for a reorg or a raw send. */
export function transferRequest(
  transfer: Transfer,
  signature: Hex,
  how: Required<Submission>,
): TxRequest {
  return { from: how.from, to: USDC, data: transferCall(transfer, signature, how.form), gas: GAS };
}

export function createUsdc(
  node: JsonRpc,
  senders: Senders,
  payers: { readonly bank: Address; readonly relay: Address },
): Usdc {
  const { bank, relay } = payers;
  const read = (data: Hex) => node.ask<Hex>('eth_call', { to: USDC, data }, 'latest');
  return {
    async fundUsdc(to, raw) {
      const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [to, raw] });
      const hash = await senders.send({ from: bank, to: USDC, data, gas: GAS });
      if ((await senders.receipt(hash))?.status === '0x0') throw new Error('the deposit failed');
      return hash;
    },
    async setUsdc(address, raw) {
      const key = encodeAbiParameters(
        [{ type: 'address' }, { type: 'uint256' }],
        [address, BALANCES_SLOT],
      );
      await node.ask('anvil_setStorageAt', USDC, keccak256(key), numberToHex(raw, { size: 32 }));
    },
    async usdcOf(address) {
      const call = { abi: USDC_ABI, functionName: 'balanceOf' } as const;
      return hexToBigInt(await read(encodeFunctionData({ ...call, args: [address] })));
    },
    async authorizationState(authorizer, nonce) {
      const call = { abi: USDC_ABI, functionName: 'authorizationState' } as const;
      return hexToBool(await read(encodeFunctionData({ ...call, args: [authorizer, nonce] })), {
        size: 32,
      });
    },
    submit: (transfer, signature, how = {}) =>
      senders.send(transferRequest(transfer, signature, { form: 'bytes', from: relay, ...how })),
    submitMany(signed) {
      const calls = signed.map(({ transfer, signature }) => ({
        target: USDC,
        allowFailure: true,
        callData: transferCall(transfer, signature, 'bytes'),
      }));
      const batches = Array.from({ length: Math.ceil(calls.length / BATCH) }, (_, i) =>
        calls.slice(i * BATCH, (i + 1) * BATCH),
      );
      return Promise.all(
        batches.map((batch) => {
          const call = { abi: multicall3Abi, functionName: 'aggregate3' } as const;
          const data = encodeFunctionData({ ...call, args: [batch] });
          return senders.send({ from: relay, to: MULTICALL3, data, gas: BATCH_GAS });
        }),
      );
    },
    cancel(authorizer, nonce, signature) {
      const args = [authorizer, nonce, signature] as const;
      const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'cancelAuthorization', args });
      return senders.send({ from: relay, to: USDC, data, gas: GAS });
    },
    async refusalOf(transfer, signature) {
      const request = transferRequest(transfer, signature, { form: 'bytes', from: relay });
      try {
        await node.ask('eth_call', request, 'pending');
        return undefined;
      } catch (error) {
        if (error instanceof NodeError) return error.message;
        throw error;
      }
    },
    async transferLogs({ from, to, fromBlock = 0 }) {
      const args = { ...(from ? { from } : {}), ...(to ? { to } : {}) };
      const topics = encodeEventTopics({ abi: USDC_ABI, eventName: 'Transfer', args });
      const filter = { address: USDC, topics, fromBlock: numberToHex(fromBlock) };
      const logs = await node.ask<RpcLog[]>('eth_getLogs', filter);
      return parseEventLogs({ abi: USDC_ABI, eventName: 'Transfer', logs: logs as never }).map(
        (log) => ({
          ...log.args,
          block: Number(log.blockNumber),
          logIndex: Number(log.logIndex),
          txHash: log.transactionHash as Hex,
        }),
      );
    },
  };
}
