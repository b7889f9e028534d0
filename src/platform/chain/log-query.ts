import type { Block, ChainLog } from './rpc-answers.ts';

/** Logs of one contract, in a range of blocks, with given topics. */
export type LogQuery = {
  readonly address: string;
  /** Accepted topics by position; null accepts any topic. */
  readonly topics: readonly (readonly string[] | null)[];
  readonly fromBlock: number;
  readonly toBlock: number;
  /**
   * Block that the node must know under this number and hash while it answers, so that a node which lags or follows another
   * branch fails instead of answering too little. When absent, the node must know `toBlock` under any hash.
   */
  readonly knowing?: Pick<Block, 'number' | 'hash'>;
  /** Log that the node must return in the same exchange, to a query of the same kind. */
  readonly witness?: ChainLog | undefined;
  /** Bytes that are read of one answer; a longer answer is requested in parts. */
  readonly maxBytes?: number | undefined;
};

export const hexNumber = (value: number) => `0x${value.toString(16)}`;

/** Returns the query in the form that nodes read. */
export const logFilter = ({ address, topics, fromBlock, toBlock }: LogQuery) => ({
  address,
  topics,
  fromBlock: hexNumber(fromBlock),
  toBlock: hexNumber(toBlock),
});

/**
 * Returns the query for one block by its hash; a node that does not know the block answers with an error. Undefined when
 * `knowing` is absent.
 */
export const knownBlockFilter = ({ address, topics, knowing }: LogQuery) =>
  knowing === undefined ? undefined : { address, topics, blockHash: knowing.hash };

/**
 * Returns the query for one log that is known to exist, by a range of blocks like the main query: a node that cuts ranges short
 * before the newest blocks cuts this range, too. Undefined when there is no witness.
 */
export const witnessFilter = ({ witness }: LogQuery) =>
  witness === undefined
    ? undefined
    : {
        address: witness.address,
        topics: witness.topics.map((topic) => [topic]),
        fromBlock: hexNumber(witness.blockNumber),
        toBlock: hexNumber(witness.blockNumber),
      };

export const isSameLog = (
  one: Pick<ChainLog, 'blockHash' | 'logIndex'>,
  other: Pick<ChainLog, 'blockHash' | 'logIndex'>,
): boolean => one.blockHash === other.blockHash && one.logIndex === other.logIndex;

/** Returns true when a log matches the query. The node's answer alone is not trusted. */
export function isAskedFor(query: LogQuery, log: ChainLog): boolean {
  return (
    log.address === query.address.toLowerCase() &&
    log.blockNumber >= query.fromBlock &&
    log.blockNumber <= query.toBlock &&
    query.topics.every((wanted, position) => {
      const topic = log.topics[position];
      return topic !== undefined && (wanted === null || wanted.includes(topic));
    })
  );
}

/** Compares two logs by their order on the chain. */
export const byPlace = (a: ChainLog, b: ChainLog): number =>
  a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
