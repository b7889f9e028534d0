import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectBalanced, fakeBreakWorld } from '../../support/breaks/fake-break-world.ts';
import { GOODS } from '../../support/breaks/goods.ts';
import { modesOf } from '../../support/breaks/modes.ts';
import { lineOf, runMode } from '../../support/breaks/run-mode.ts';

let world: Awaited<ReturnType<typeof fakeBreakWorld>>;
beforeAll(async () => {
  world = await fakeBreakWorld(GOODS);
});
afterAll(() => world[Symbol.asyncDispose]());

describe.each(GOODS)('$name of an upstream that misbehaves', (goods) => {
  it.for(modesOf(goods, 16))(
    'a purchase from a misbehaving upstream is charged as delivered, and reaches its client unchanged: $name',
    async (mode, { annotate }) => {
      const tally = await runMode(world, goods, mode);
      await annotate(lineOf(tally));
      expectBalanced(tally, mode);
    },
  );
});
