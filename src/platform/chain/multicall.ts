import { wordOf, wordOfHex, wordsOf } from './abi.ts';
import { inChunks } from './chunks.ts';
import { CHAIN_LIMITS } from './limits.ts';
import { type CallRpc, RpcReverted, RpcUnavailable } from './rpc.ts';
import type { Block } from './rpc-answers.ts';

/** Address of the multicall contract on nearly every chain: many calls in one, all on the same state. */
const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11';

export type ContractCall = { readonly to: string; readonly data: `0x${string}` };

const AGGREGATE3 = '0x82ad56cb';
const WORD_BYTES = 32;

/**
 * Sends all questions as of one block. The answer of a contract that refused is undefined, and of an address that is no
 * contract `0x`, as on the chain. Returns `absent` when the chain has no multicall contract.
 */
export async function askAll(
  rpc: CallRpc,
  questions: readonly ContractCall[],
  at: Pick<Block, 'hash'>,
): Promise<readonly (string | undefined)[] | 'absent'> {
  const answer = await rpc.call({ to: MULTICALL3, data: encodeCalls(questions) }, at);
  // A call to an address without code returns no bytes.
  if (answer === '0x') return 'absent';
  const answers = decodeAnswers(answer);
  if (answers?.length !== questions.length) {
    throw new RpcUnavailable('the multicall contract answered in an unknown shape');
  }
  return answers;
}

/** Sends the questions one by one, for a chain without a multicall contract. */
export async function askEach(
  rpc: CallRpc,
  questions: readonly ContractCall[],
  at: Pick<Block, 'hash'>,
): Promise<readonly (string | undefined)[]> {
  const answers: (string | undefined)[] = [];
  for (const some of inChunks(questions, CHAIN_LIMITS.multicall.singleUnderWay)) {
    answers.push(...(await Promise.all(some.map((question) => askOne(rpc, question, at)))));
  }
  return answers;
}

/** Returns the contract's answer, or undefined when the contract reverted. */
export async function askOne(
  rpc: CallRpc,
  question: ContractCall,
  at: Pick<Block, 'hash'>,
): Promise<string | undefined> {
  try {
    return await rpc.call(question, at);
  } catch (error) {
    if (error instanceof RpcReverted) return undefined;
    throw error;
  }
}

/** Encodes `aggregate3((address target, bool allowFailure, bytes callData)[])`, where each call may fail. */
function encodeCalls(questions: readonly ContractCall[]): `0x${string}` {
  const items = questions.map(({ to, data }) => {
    const bytes = data.slice(2);
    const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0');
    return wordOfHex(to) + wordOf(1) + wordOf(3 * WORD_BYTES) + wordOf(bytes.length / 2) + padded;
  });
  let offset = items.length * WORD_BYTES;
  const offsets = items.map((item) => {
    const here = wordOf(offset);
    offset += item.length / 2;
    return here;
  });
  const parts = [wordOf(WORD_BYTES), wordOf(items.length), ...offsets, ...items];
  return `${AGGREGATE3}${parts.join('')}`;
}

/** Decodes `(bool success, bytes returnData)[]`. Undefined when the bytes hold no such list. */
function decodeAnswers(answer: string): readonly (string | undefined)[] | undefined {
  const words = wordsOf(answer);
  if (words === undefined) return undefined;
  /**
   * Returns the index of the word that a byte offset points to, counted from the word `from`; -1 when the offset points
   * nowhere.
   */
  const follow = (from: number, at: number) => {
    const bytes = words[at];
    if (bytes === undefined || bytes % 32n !== 0n || bytes > BigInt(answer.length)) return -1;
    return from + Number(bytes) / WORD_BYTES;
  };
  const list = follow(0, 0);
  const count = words[list] ?? -1n;
  if (count < 0n || count > BigInt(words.length)) return undefined;
  const answers: (string | undefined)[] = [];
  for (let i = 0; i < Number(count); i++) {
    const item = follow(list + 1, list + 1 + i);
    const data = follow(item, item + 1);
    const bytes = words[data];
    const success = words[item];
    if (item < 0 || data < 0 || bytes === undefined || success === undefined) return undefined;
    const from = 2 + (data + 1) * 64;
    const end = from + Number(bytes) * 2;
    if (bytes > BigInt(answer.length) || end > answer.length) return undefined;
    answers.push(success === 1n ? `0x${answer.slice(from, end)}` : undefined);
  }
  return answers;
}
