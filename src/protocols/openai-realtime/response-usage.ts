import type { AnswerReceipt, AnswerTokens } from '../../voice/session/answer-request.ts';

/** Returns the usage block of `response.done`. Each sum equals the sum of its details. */
export function renderUsage({ cachedIn, heard, spoken, textIn, textOut }: AnswerTokens) {
  return {
    total_tokens: textIn + heard + textOut + spoken,
    input_tokens: textIn + heard,
    output_tokens: textOut + spoken,
    input_token_details: {
      text_tokens: textIn,
      audio_tokens: heard,
      image_tokens: 0,
      cached_tokens: cachedIn,
      cached_tokens_details: { text_tokens: cachedIn, audio_tokens: 0, image_tokens: 0 },
    },
    output_token_details: { text_tokens: textOut, audio_tokens: spoken },
  };
}

export const NO_USAGE = renderUsage({ textIn: 0, cachedIn: 0, textOut: 0, heard: 0, spoken: 0 });

/** Returns the time of each stage in whole milliseconds and the cost, as strings, because metadata must be strings. */
export function renderReceipt(receipt: AnswerReceipt): Readonly<Record<string, string>> {
  const { costRaw, speculationCostRaw, stagesMs } = receipt;
  const shown: Record<string, string> = {};
  for (const [stage, ms] of Object.entries(stagesMs)) shown[`${stage}_ms`] = String(Math.round(ms));
  if (speculationCostRaw !== undefined) shown.speculation_cost_raw = String(speculationCostRaw);
  shown.cost_raw = String(costRaw);
  return shown;
}
