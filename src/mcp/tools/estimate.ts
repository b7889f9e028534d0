import { parseObject } from '../../kernel/json/parse-json.ts';
import { EstimateRequest, estimate as estimateRoute } from '../../routes/estimate.ts';
import { tool } from '../tool.ts';
import { toolResult } from '../tool-result.ts';

/** Estimates the price of a use before any purchase. */
export const estimate = tool({
  name: 'estimate',
  title: 'Price of a use',
  description:
    'What a use of a model would cost, by its tokens, characters or seconds of sound. `cost_usdc` is in dollars, `cost_raw` in units of 10^-6 USDC. Free.',
  isReadOnly: true,
  input: EstimateRequest,

  async call(args, ask) {
    const { bytes } = await ask(estimateRoute, { body: args });
    return toolResult(parseObject(bytes));
  },
});
