import { LIMITS } from '../kernel/limits.ts';
import { wordOfHex } from './abi.ts';
import { inChunks } from './chunks.ts';
import { askAll, askEach, type Question } from './multicall.ts';
import { type CallRpc, RpcReverted } from './rpc.ts';
import type { Block } from './rpc-answers.ts';

export type AuthorizationKey = { readonly wallet: string; readonly nonce: string };

/** True when used and when canceled, false when neither; undefined when nothing is known of it. */
export type AuthorizationState = boolean | undefined;

type At = Pick<Block, 'hash'>;

const AUTHORIZATION_STATE = '0xe94a0102';

/**
 * Asks the token about each authorization as it stands at one block, which must be canonical while it is
 * asked: all answers are of the same moment of the same branch. Rejects with RpcUnavailable, never with
 * half of them; what the chain itself could not answer reads undefined.
 */
export async function authorizationStates(
  rpc: CallRpc,
  usdc: string,
  at: At,
  keys: readonly AuthorizationKey[],
): Promise<readonly AuthorizationState[]> {
  const questions = keys.map(
    ({ wallet, nonce }): Question => ({
      to: usdc,
      data: `${AUTHORIZATION_STATE}${wordOfHex(wallet)}${wordOfHex(nonce)}`,
    }),
  );
  const states: AuthorizationState[] = [];
  const chunks = inChunks(questions, LIMITS.callsPerMulticall);
  for (const some of inChunks(chunks, LIMITS.multicallsUnderWay)) {
    const answers = await Promise.all(some.map((chunk) => askChunk(rpc, chunk, at)));
    if (answers.includes('absent')) {
      const first = await askEach(rpc, questions.slice(0, LIMITS.singleStateReads), at);
      return questions.map((_, i) => stateIn(first[i]));
    }
    for (const answer of answers.flat()) states.push(stateIn(answer));
  }
  return states;
}

/** A chunk that costs more than the node runs at once is asked in halves. */
async function askChunk(
  rpc: CallRpc,
  questions: readonly Question[],
  at: At,
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

function stateIn(answer: string | undefined): AuthorizationState {
  if (answer === undefined || !/^0x0{63}[01]$/.test(answer)) return undefined;
  return answer.endsWith('1');
}
