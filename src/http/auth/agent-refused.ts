import { ApiError } from '../../kernel/api-error.ts';

/** Refusal of an agent that was recognised by its credential and is not admitted. */
export class AgentRefused extends ApiError {
  readonly agentId: number;

  constructor(agentId: number, { error, fields, headers, status }: ApiError) {
    super(status, error, { fields, headers });
    this.agentId = agentId;
  }
}
