import { z } from 'zod';
import { parseObject } from '../../kernel/json/parse-json.ts';
import { agentBalance } from '../../routes/agents/balance.ts';
import { creditRemaining } from '../../routes/agents/credit-remaining.ts';
import { ownSpendLimit } from '../../routes/controls/spend-limit.ts';
import { type AskTool, RouteRefused, tool } from '../tool.ts';
import { toolResult } from '../tool-result.ts';

/** Returns the agent's spendable money and its limits. A closed agent sees the money that it has left. */
export const balance = tool({
  name: 'balance',
  title: 'Balance and limits',
  description:
    'What this agent may still spend: its balance, what is held, and its session limit. Amounts are in units of 10^-6 USDC. Free.',
  isReadOnly: true,
  input: z.object({}),

  async call(_args, ask) {
    const { bytes } = await ask(agentBalance);
    const [remaining, limit] = await Promise.all([
      unlessRefused(ask, creditRemaining),
      unlessRefused(ask, ownSpendLimit.read),
    ]);
    return toolResult({
      balance: parseObject(bytes),
      ...(remaining !== undefined && { remaining }),
      ...(limit !== undefined && { sessionLimit: limit }),
    });
  },
});

async function unlessRefused(ask: AskTool, route: Parameters<AskTool>[0]) {
  try {
    return parseObject((await ask(route)).bytes);
  } catch (refusal) {
    if (refusal instanceof RouteRefused) return undefined;
    throw refusal;
  }
}
