import { inChunks } from './chunks.ts';
import { CHAIN_LIMITS } from './limits.ts';
import { askAll, askEach, type ContractCall } from './multicall.ts';
import { type CallRpc, RpcReverted } from './rpc.ts';
import type { Block } from './rpc-answers.ts';

/**
 * Sends any number of questions to contracts as of one block, which must stay canonical meanwhile: all answers are of one
 * moment of one branch. Rejects with RpcUnavailable, never with a part of the answers. An answer that the chain could not give
 * is undefined.
 */
export async function askMany(
  rpc: CallRpc,
  questions: readonly ContractCall[],
  at: Pick<Block, 'hash'>,
): Promise<readonly (string | undefined)[]> {
  const answered: (string | undefined)[] = [];
  const chunks = inChunks(questions, CHAIN_LIMITS.multicall.calls);
  for (const some of inChunks(chunks, CHAIN_LIMITS.multicall.underWay)) {
    const answers = await Promise.all(some.map((chunk) => askChunk(rpc, chunk, at)));
    if (answers.includes('absent')) {
      const first = await askEach(rpc, questions.slice(0, CHAIN_LIMITS.multicall.singleReads), at);
      return questions.map((_, i) => first[i]);
    }
    for (const answer of answers.flat()) answered.push(answer);
  }
  return answered;
}

/** Sends one chunk of questions. A chunk that costs more than the node runs at once is sent in halves. */
async function askChunk(
  rpc: CallRpc,
  questions: readonly ContractCall[],
  at: Pick<Block, 'hash'>,
): Promise<readonly (string | undefined)[] | 'absent'> {
  try {
    return await askAll(rpc, questions, at);
  } catch (error) {
    if (!(error instanceof RpcReverted)) throw error;
    if (questions.length === 1) return [undefined];
  }
  const middle = questions.length >> 1;
  const first = await askChunk(rpc, questions.slice(0, middle), at);
  const second = await askChunk(rpc, questions.slice(middle), at);
  return first === 'absent' || second === 'absent' ? 'absent' : [...first, ...second];
}
