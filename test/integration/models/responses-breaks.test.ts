import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectBalanced, fakeBreakWorld } from '../../support/breaks/fake-break-world.ts';
import { type Mode, modesOf } from '../../support/breaks/modes.ts';
import { CONNECTION_GOODS, RESPONSE_GOODS } from '../../support/breaks/response-goods.ts';
import { lineOf, runMode } from '../../support/breaks/run-mode.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const GOODS = [...RESPONSE_GOODS, ...CONNECTION_GOODS];

let world: Awaited<ReturnType<typeof fakeBreakWorld>>;
beforeAll(async () => {
  world = await fakeBreakWorld(GOODS);
});
afterAll(() => world[Symbol.asyncDispose]());

/** These answers are long: of the modes that break one at each of its bytes, every eleventh row is played. */
const sampled = (mode: Mode): Mode =>
  exhaustive || mode.scripts.length < 500
    ? mode
    : { ...mode, scripts: mode.scripts.filter((_, at) => at % 11 === 0) };

describe.each(GOODS)('a $name of an upstream that misbehaves', (goods) => {
  it.for(modesOf(goods, 64).map(sampled))(
    'is charged as it was delivered, and its words reach the client: $name',
    async (mode, { annotate }) => {
      const tally = await runMode(world, goods, mode);
      await annotate(lineOf(tally));
      expectBalanced(tally, mode);
    },
  );
});
