import { proxyErrors } from '../errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';

type Bodied = { readonly body: AsyncIterable<Uint8Array> | Uint8Array };

/**
 * Counts the calls of each agent at vendors, from their beginning to the last byte of their answers. An agent that calls slow
 * vendors cannot take the connections of other agents. Refusals report `perMinute` as the limit.
 */
export function createCallSlots({
  most = PAYMENT_LIMITS.proxy.callsPerAgent,
  perMinute,
}: {
  readonly most?: number;
  readonly perMinute: number;
}) {
  const underWay = new Map<number, number>();
  const leave = (agentId: number) => {
    const left = (underWay.get(agentId) ?? 1) - 1;
    if (left > 0) underWay.set(agentId, left);
    else underWay.delete(agentId);
  };

  return {
    /** Runs the work of a call in a slot of its agent. Throws a 429 when the agent has its most calls under way. */
    async take<T extends Bodied>(agentId: number, work: () => Promise<T>): Promise<T> {
      const taken = underWay.get(agentId) ?? 0;
      if (taken >= most) throw proxyErrors.tooManyCalls(most, perMinute);
      underWay.set(agentId, taken + 1);
      let isOver = false;
      const over = () => {
        if (!isOver) leave(agentId);
        isOver = true;
      };
      try {
        const answer = await work();
        if (!(answer.body instanceof Uint8Array)) {
          return { ...answer, body: endingWith(answer.body, over) };
        }
        over();
        return answer;
      } catch (error) {
        over();
        throw error;
      }
    },
    /** Number of agents with calls in progress. */
    get size() {
      return underWay.size;
    },
  };
}

// Not a generator: a generator that is left before its first step would never call `over`.
function endingWith(
  source: AsyncIterable<Uint8Array>,
  over: () => void,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const inner = source[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const step = await inner.next();
            if (step.done === true) over();
            return step;
          } catch (error) {
            over();
            throw error;
          }
        },
        async return() {
          over();
          await inner.return?.();
          return { done: true as const, value: undefined };
        },
      };
    },
  };
}
