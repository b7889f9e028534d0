import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectBalanced, fakeBreakWorld } from '../../support/breaks/fake-break-world.ts';
import { modesOf } from '../../support/breaks/modes.ts';
import { CONNECTION_GOODS, RESPONSE_GOODS } from '../../support/breaks/response-goods.ts';
import { lineOf, runMode } from '../../support/breaks/run-mode.ts';

const GOODS = [...RESPONSE_GOODS, ...CONNECTION_GOODS];

let world: Awaited<ReturnType<typeof fakeBreakWorld>>;
beforeAll(async () => {
  world = await fakeBreakWorld(GOODS);
});
afterAll(() => world[Symbol.asyncDispose]());

describe.each(GOODS)('a $name of an upstream that misbehaves', (goods) => {
  it.for(modesOf(goods, 64))(
    'a response of a misbehaving upstream is charged as delivered, and its text reaches the client: $name',
    async (mode, { annotate }) => {
      const tally = await runMode(world, goods, mode);
      await annotate(lineOf(tally));
      expectBalanced(tally, mode);
    },
  );
});
