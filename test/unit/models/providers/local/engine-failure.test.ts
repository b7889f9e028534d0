import { describe, expect, it } from 'vitest';
import {
  EngineBusy,
  EngineInputRefused,
  EngineMissing,
} from '../../../../../src/engines/engine.ts';
import { engineFailure } from '../../../../../src/models/providers/local/engine-failure.ts';

describe('what an engine throws', () => {
  it('an error of a local engine becomes the failure that an upstream would have reported', () => {
    const read = (error: unknown) => engineFailure(error, 'input');
    expect(read(new EngineMissing('pruned'))).toMatchObject({
      failure: 'missing',
      detail: 'pruned',
    });
    expect(read(new EngineBusy(2))).toMatchObject({ failure: 'busy', retryAfterSeconds: 2 });
    expect(read(new EngineInputRefused('too long'))).toEqual({
      kind: 'unfit',
      detail: 'too long',
      param: 'input',
    });
    expect(read(new Error('bug'))).toMatchObject({ failure: 'broken', detail: 'bug' });
    expect(read('odd')).toMatchObject({ failure: 'broken', detail: 'odd' });
  });
});
