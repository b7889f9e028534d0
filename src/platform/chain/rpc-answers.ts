import { z } from 'zod';
import type { LogsBloom } from './bloom.ts';

/** Fields of a block that this server reads. */
export type Block = {
  readonly number: number;
  readonly hash: string;
  readonly timestampSec: number;
  /** Filter of the addresses and topics of the block's logs. Undefined when the node does not report the filter. */
  readonly logsBloom?: LogsBloom;
};

/** Event that a contract of the canonical chain has emitted. Hex is in lower case. */
export type ChainLog = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly txHash: string;
  readonly logIndex: number;
};

export type Receipt = {
  readonly txHash: string;
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly succeeded: boolean;
};

const hexOf = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`))
    .toLowerCase();

/** 32 bytes in hex, as in a transaction hash or an answer of one word. */
export const Word = hexOf(32);
/** Number that JavaScript represents exactly: thirteen hex digits are 52 bits. */
export const Count = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,13}$/)
  .transform(Number);
/** Number of any size that occurs on the chain. */
export const Quantity = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform(BigInt);
/** Whole bytes in hex. */
export const Bytes = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/)
  .toLowerCase();

export const BlockAnswer = z
  .object({ number: Count, hash: Word, timestamp: Count, logsBloom: hexOf(256).nullish() })
  .transform(
    ({ number, hash, timestamp, logsBloom }): Block => ({
      number,
      hash,
      timestampSec: timestamp,
      ...(logsBloom != null && { logsBloom }),
    }),
  );

export const BaseFeeAnswer = z.object({ baseFeePerGas: Quantity });

export const LogAnswers = z
  .array(
    z.object({
      removed: z.boolean().optional(),
      address: hexOf(20),
      topics: z.array(Word).max(4),
      data: Bytes,
      blockNumber: Count,
      blockHash: Word,
      transactionHash: Word,
      logIndex: Count,
    }),
  )
  .transform((logs): ChainLog[] =>
    logs
      .filter(({ removed }) => removed !== true)
      .map(({ removed: _, transactionHash, ...log }) => ({ ...log, txHash: transactionHash })),
  );

export const ReceiptAnswer = z
  .object({ transactionHash: Word, blockNumber: Count, blockHash: Word, status: Count })
  .transform(
    ({ transactionHash, blockNumber, blockHash, status }): Receipt => ({
      txHash: transactionHash,
      blockNumber,
      blockHash,
      succeeded: status === 1,
    }),
  );
