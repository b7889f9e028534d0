import type { AnswerReceipt } from '../../session/answer-request.ts';

/** Returns the time of each stage in whole milliseconds and the cost, as strings, because metadata must be strings. */
export function renderReceipt(receipt: AnswerReceipt): Readonly<Record<string, string>> {
  const { costRaw, speculationCostRaw, stagesMs } = receipt;
  const shown: Record<string, string> = {};
  for (const [stage, ms] of Object.entries(stagesMs)) shown[`${stage}_ms`] = String(Math.round(ms));
  if (speculationCostRaw !== undefined) shown.speculation_cost_raw = String(speculationCostRaw);
  shown.cost_raw = String(costRaw);
  return shown;
}
