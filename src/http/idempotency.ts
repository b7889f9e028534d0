import type { Answer } from './answer.ts';
import type { AgentCaller, DeveloperCaller } from './caller.ts';

/**
 * Where answers under an `Idempotency-Key` are kept. `begin` throws the refusal of a key that is in
 * flight; otherwise it either hands back the first answer or reserves the key for this request.
 */
export interface IdempotencyStore {
  begin(request: {
    readonly caller: AgentCaller | DeveloperCaller;
    readonly key: string;
    readonly method: string;
    readonly path: string;
  }): Promise<IdempotencyVerdict>;
}

export type IdempotencyVerdict =
  | { readonly kind: 'replay'; readonly answer: Answer }
  | {
      readonly kind: 'fresh';
      /** Keeps the answer and may hand back another one, such as a copy of a stream that it reads along. */
      store(answer: Answer): Promise<Answer>;
      /** Nothing was decided: the key is free again. */
      abandon(): Promise<void>;
    };
