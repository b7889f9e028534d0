import { z } from 'zod';
import { AgentBalance } from '../../developer/agents/agent-shape.ts';

/** An agent by its number or its wallet; the room refuses anything else in its own words. */
export const AgentRef = z.object({ agentId: z.string() });

export const AdminBalance = AgentBalance.extend({ agentId: z.number(), status: z.string() });
