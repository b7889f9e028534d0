import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerControl, type ControlledCall } from './control.ts';
import { bodyOf, reply } from './http.ts';
import { Numbers, type SimNumber } from './numbers.ts';
import { type Callee, type CarrierSimOptions, type Faults, NO_FAULTS } from './options.ts';
import type { RestAnswer } from './rest.ts';
import type { ScriptedCallDeps } from './scripted-call.ts';
import { SimTime } from './sim-time.ts';

/** A simulated carrier, as every test sees it. */
export type SimCarrier<Call, Request> = AsyncDisposable & {
  /** Where its API is: the `…_BASE_URL` of the carrier. */
  readonly baseUrl: string;
  readonly faults: Faults;
  readonly owned: readonly SimNumber[];
  /** Every call that there was, in the order of their begin. */
  readonly calls: readonly Call[];
  /** What its API was asked, in the order of its arrival. */
  readonly requests: readonly Request[];
  /** A caller from outside calls a number that was sold. */
  ring(to: string, from: string, callee?: Callee): Call;
};

/** A request to the API of a carrier. */
export type SimRequest = {
  readonly method: string;
  readonly url: URL;
  readonly authorization: string | undefined;
  readonly body: string;
};

type SimCallOf = ControlledCall & { readonly streams: readonly { drop(): void }[] };

/** What a simulated carrier begins with. */
export function simParts<Call, Request>(options: CarrierSimOptions) {
  const deps: ScriptedCallDeps = {
    time: new SimTime(options.speed ?? 1),
    faults: { ...NO_FAULTS, ...options.faults },
    reach: options.reach ?? ((url) => url),
    calleeOf: options.callee ?? (() => ({})),
  };
  const calls: Call[] = [];
  const requests: Request[] = [];
  return { deps, numbers: new Numbers(options.numbers ?? []), calls, requests };
}

/** Serves the API of a carrier on loopback, and what steers it under `/sim/`, until it is disposed. */
export async function serveSim(
  sim: {
    readonly deps: ScriptedCallDeps;
    readonly calls: readonly SimCallOf[];
    readonly ring: (to: string, from: string, callee?: Callee) => ControlledCall;
    /** 0: one that the system chooses. */
    readonly port?: number | undefined;
  },
  answer: (request: SimRequest) => RestAnswer | Promise<RestAnswer>,
): Promise<AsyncDisposable & { readonly baseUrl: string }> {
  const { faults, time } = sim.deps;
  const server = createServer((request, response) => {
    void bodyOf(request).then(async (body) => {
      const url = new URL(request.url ?? '', 'http://sim');
      const method = request.method ?? 'GET';
      const { authorization } = request.headers;
      const answered = url.pathname.startsWith('/sim/')
        ? answerControl({ ...sim, faults }, method, url.pathname, body)
        : await answer({ method, url, authorization, body });
      reply(response, answered);
    });
  });
  await new Promise<void>((resolve) => server.listen(sim.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const call of sim.calls) for (const stream of call.streams) stream.drop();
      time[Symbol.dispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
