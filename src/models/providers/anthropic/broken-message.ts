import { isObject } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { StreamBroken } from '../openai/answer-reader.ts';
import { textMember } from './read-json.ts';

/** The upstream ended its stream with an error of its own, which its reader may be told. */
export class ReportedError extends StreamBroken {
  readonly type: string;
  readonly told: string;

  constructor(type: string, told: string) {
    super(`it reported ${type}`);
    this.type = type;
    this.told = told;
  }
}

/** The error of an upstream's event, in words of bounded length. */
export function reportedError(error: unknown): ReportedError {
  const said = isObject(error) ? error : {};
  const type = /^[a-z_]{1,64}$/.exec(textMember(said, 'type'))?.[0] ?? 'api_error';
  return new ReportedError(type, textMember(said, 'message').slice(0, LIMITS.vendorReasonChars));
}
