import type { Block, ChainLog } from './rpc-answers.ts';

/** Which logs: of one contract, in a range of blocks, with these topics. */
export type LogQuery = {
  readonly address: string;
  /** By position: one of these, or null for any. */
  readonly topics: readonly (readonly string[] | null)[];
  readonly fromBlock: number;
  readonly toBlock: number;
  /**
   * A block that the node must know under this name while it answers, so that one which lags or follows
   * another branch fails instead of answering too little. `toBlock` under any name when it is not given.
   */
  readonly knowing?: Pick<Block, 'number' | 'hash'>;
  /** A log that the node must return beside its answer, to the same kind of query. */
  readonly witness?: ChainLog | undefined;
  /** The most that is read of an answer; a longer one is asked for in parts. */
  readonly maxBytes?: number | undefined;
};

export const hexNumber = (value: number) => `0x${value.toString(16)}`;

/** The same question as nodes read it. */
export const logFilter = ({ address, topics, fromBlock, toBlock }: LogQuery) => ({
  address,
  topics,
  fromBlock: hexNumber(fromBlock),
  toBlock: hexNumber(toBlock),
});

/** The same question about one block by its hash. A node that does not know the block answers an error. */
export const knownBlockFilter = ({ address, topics, knowing }: LogQuery) =>
  knowing === undefined ? undefined : { address, topics, blockHash: knowing.hash };

/**
 * One log that is known to be there, asked for by a range of blocks as everything else is: a node that cuts ranges
 * short before the newest blocks cuts this one, too.
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

/** In the order of the chain. */
export const byPlace = (a: ChainLog, b: ChainLog): number =>
  a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
