import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import type { Json } from '../../../kernel/json.ts';
import type { AnsweredCall } from '../../dialects/answered-calls.ts';
import { RESPONSES_LIMITS } from '../limits.ts';
import { CustomInput } from './custom-tool.ts';
import { ItemEvents, type ItemPlace, type ItemStatus, type OutputItem } from './output-items.ts';
import type { CalledTool } from './tool-names.ts';

type EndStatus = Exclude<ItemStatus, 'in_progress'>;

type CallEvent = { readonly type: string; readonly fields: Json };

/** Form of the calls of one kind of tool: their item, and the events of their arguments. */
interface CallForm {
  /** Adds a piece of the arguments, and returns the event for it. Undefined when the item has no such event. */
  add(delta: string): CallEvent | undefined;
  /** Returns the events at the end of the arguments. */
  end(status: EndStatus): readonly CallEvent[];
  /** Returns the members of the item that only this kind of tool has. */
  shown(): Json;
}

/** Prefixes of the ids of call items, by kind of tool. */
export const CALL_PREFIXES: Readonly<Record<CalledTool['kind'], string>> = {
  function: 'fc_',
  custom: 'ctc_',
  search: 'tsc_',
};

/** Output item of a call of a tool that the caller runs. */
export class CallItem implements OutputItem {
  readonly #events: ItemEvents;
  readonly #callId: string;
  readonly #form: CallForm;
  readonly #answered: Pick<AnsweredCall, 'isWhole'>;
  #status: ItemStatus = 'in_progress';

  constructor(
    place: ItemPlace,
    tool: CalledTool & { readonly callId: string },
    answered: Pick<AnsweredCall, 'isWhole'>,
  ) {
    this.#answered = answered;
    this.#events = new ItemEvents(place);
    this.#callId = tool.callId;
    this.#form = FORMS[tool.kind](tool);
    this.#events.item('added', () => this.shown());
  }

  get isOpen(): boolean {
    return this.#status === 'in_progress';
  }

  /** Adds arguments. Throws when the call has already ended. */
  add(delta: string): void {
    if (delta === '') return;
    if (!this.isOpen) {
      if (delta.trim() === '') return;
      throw new Error('the arguments of a tool call go on behind their end');
    }
    this.#tell(this.#form.add(delta));
  }

  /** True when the arguments are a whole JSON object, so that no more can follow. */
  get isWhole(): boolean {
    return this.#answered.isWhole;
  }

  close(status: EndStatus): void {
    if (!this.isOpen) return;
    this.#status = status;
    for (const event of this.#form.end(status)) this.#tell(event);
    this.#events.item('done', () => this.shown());
  }

  shown(): Json {
    const { id } = this.#events;
    const { type, ...more } = this.#form.shown();
    return { id, type, status: this.#status, call_id: this.#callId, ...more };
  }

  #tell(event: CallEvent | undefined): void {
    if (event !== undefined) this.#events.within(event.type, () => event.fields);
  }
}

const namesOf = ({ name, namespace }: CalledTool): Json => ({
  name,
  ...(namespace !== undefined && { namespace }),
});

function functionForm(tool: CalledTool): CallForm {
  let text = '';
  return {
    add(delta) {
      text += delta;
      return { type: 'function_call_arguments.delta', fields: { delta } };
    },
    end(status) {
      // Clients parse the arguments of a finished call, so a call without arguments gets an empty object.
      const missing = status === 'completed' && text.trim() === '' ? '{}' : '';
      text += missing;
      const done = { name: tool.name, arguments: text };
      return [
        ...(missing === ''
          ? []
          : [{ type: 'function_call_arguments.delta', fields: { delta: missing } }]),
        { type: 'function_call_arguments.done', fields: done },
      ];
    },
    shown: () => ({ type: 'function_call', arguments: text, ...namesOf(tool) }),
  };
}

function customForm(tool: CalledTool): CallForm {
  const read = new CustomInput();
  const event = (delta: string): CallEvent | undefined =>
    delta === '' ? undefined : { type: 'custom_tool_call_input.delta', fields: { delta } };
  return {
    add: (delta) => event(read.push(delta)),
    end() {
      const last = event(read.end());
      const done = { type: 'custom_tool_call_input.done', fields: { input: read.input } };
      return last === undefined ? [done] : [last, done];
    },
    shown: () => ({ type: 'custom_tool_call', input: read.input, ...namesOf(tool) }),
  };
}

/**
 * Creates the form of a tool search. A search shows its arguments as a value when they are whole: the dialect has no events for
 * pieces of them.
 */
function searchForm(): CallForm {
  let text = '';
  let told: unknown = {};
  return {
    add(delta) {
      text += delta;
      return undefined;
    },
    end() {
      if (text !== '') told = tryParseJson(text, RESPONSES_LIMITS.answer.callJson) || text;
      return [];
    },
    shown: () => ({ type: 'tool_search_call', execution: 'client', arguments: told }),
  };
}

const FORMS: Readonly<Record<CalledTool['kind'], (tool: CalledTool) => CallForm>> = {
  function: functionForm,
  custom: customForm,
  search: searchForm,
};
