import type { ToolOutcome } from './tool-store.ts';

/** The result of a tool call; `output` is for the model. */
export type ToolResult = {
  readonly outcome: ToolOutcome;
  readonly output: string;
  readonly costRaw: bigint;
};

export const failedTool = (message: string, costRaw = 0n): ToolResult => ({
  outcome: 'failed',
  output: JSON.stringify({ error: message }),
  costRaw,
});
