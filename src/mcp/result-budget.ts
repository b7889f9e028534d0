import type { CallToolResult } from '@modelcontextprotocol/server';
import { MCP_LIMITS } from './limits.ts';

/** Bytes of JSON that all results of one HTTP request may take together. */
export type ResultBudget = {
  /**
   * Takes the bytes of a result as it will be written. Returns false, and takes nothing, when the budget does not cover them.
   * Small results always pass, because a refusal may contain the number of a reservation, which must not be lost.
   */
  take(result: CallToolResult): boolean;
};

/**
 * Creates the budget of one reply. A reply is written in one turn of the event loop, whatever the number of results in a batch.
 */
export function createResultBudget(bytes: number = MCP_LIMITS.resultBytes): ResultBudget {
  let left = bytes;
  return {
    take(result) {
      const needed = Buffer.byteLength(JSON.stringify(result));
      if (needed > left && needed > MCP_LIMITS.smallResultBytes) return false;
      left -= needed;
      return true;
    },
  };
}
