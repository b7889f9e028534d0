/**
 * Reads the named float tensors of an ONNX file. Knows just enough of the protobuf wire format to find model (field 7: graph),
 * graph (field 5: initializer) and tensor, and executes nothing.
 */

export type Tensor = { readonly dims: readonly number[]; readonly data: Float32Array };

const FLOAT = 1;
const MODEL = { graph: 7 };
const GRAPH = { initializer: 5 };
const TENSOR = { dims: 1, dataType: 2, floatData: 4, name: 8, rawData: 9 };

/** A protobuf field: a number (varint) in `value`, or content (length-delimited or fixed width) in `bytes`. */
type Field = { readonly id: number; readonly value: number; readonly bytes: Uint8Array };

const NO_BYTES: Uint8Array = new Uint8Array(0);

/** Returns every float initializer by name. Throws when the bytes are not an ONNX model. */
export function readOnnxWeights(file: Uint8Array): ReadonlyMap<string, Tensor> {
  const weights = new Map<string, Tensor>();
  for (const inModel of fieldsOf(file)) {
    if (inModel.id !== MODEL.graph) continue;
    for (const inGraph of fieldsOf(inModel.bytes)) {
      if (inGraph.id !== GRAPH.initializer) continue;
      const named = readTensor(inGraph.bytes);
      if (named !== undefined) weights.set(named.name, named.tensor);
    }
  }
  return weights;
}

function readTensor(bytes: Uint8Array): { name: string; tensor: Tensor } | undefined {
  const dims: number[] = [];
  let name = '';
  let dataType = 0;
  let data: Uint8Array = NO_BYTES;
  for (const field of fieldsOf(bytes)) {
    if (field.id === TENSOR.dims)
      dims.push(...(field.bytes.length ? varints(field.bytes) : [field.value]));
    else if (field.id === TENSOR.dataType) dataType = field.value;
    else if (field.id === TENSOR.name) name = Buffer.from(field.bytes).toString('utf8');
    else if (field.id === TENSOR.rawData || field.id === TENSOR.floatData) data = field.bytes;
  }
  if (dataType !== FLOAT) return undefined;
  const count = dims.reduce((product, size) => product * size, 1);
  if (data.length !== count * 4)
    throw new Error(`onnx: tensor ${name} does not fit its dimensions`);
  // The bytes are copied, because a Float32Array needs an alignment that the file does not guarantee.
  return { name, tensor: { dims, data: new Float32Array(new Uint8Array(data).buffer) } };
}

function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  const at = { offset: 0 };
  while (at.offset < bytes.length) {
    const tag = varint(bytes, at);
    const id = Math.floor(tag / 8);
    const wire = tag % 8;
    if (wire === 0) {
      yield { id, value: varint(bytes, at), bytes: NO_BYTES };
      continue;
    }
    const length = wire === 2 ? varint(bytes, at) : wire === 5 ? 4 : wire === 1 ? 8 : -1;
    const end = at.offset + length;
    if (length < 0 || end > bytes.length) throw new Error('onnx: the file is damaged');
    yield { id, value: 0, bytes: bytes.subarray(at.offset, end) };
    at.offset = end;
  }
}

function varints(bytes: Uint8Array): number[] {
  const values: number[] = [];
  const at = { offset: 0 };
  while (at.offset < bytes.length) values.push(varint(bytes, at));
  return values;
}

function varint(bytes: Uint8Array, at: { offset: number }): number {
  let value = 0;
  for (let scale = 1; scale < 2 ** 64; scale *= 128) {
    const byte = bytes[at.offset++];
    if (byte === undefined) break;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
  throw new Error('onnx: the file is damaged');
}
