import { z } from 'zod';
import { AgentBalance } from '../../developer/agents/agent-shape.ts';

/** Agent by its id or its wallet address. `Admin` validates the text and refuses any other form. */
export const AgentRef = z.object({ agentId: z.string() });

export const AdminBalance = AgentBalance.extend({ agentId: z.number(), status: z.string() });
