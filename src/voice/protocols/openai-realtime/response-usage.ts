import type { AnswerTokens } from '../../session/answer-request.ts';

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
