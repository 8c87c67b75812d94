'use strict';
// The engine in a worker: a first message brings the gzipped WebAssembly and the world, each further
// one a request. Answers carry the number of their request.
let engine = null;
const open = async (wasm, world) => {
  const stream = new Blob([wasm]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = await new Response(stream).arrayBuffer();
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(bytes, go.importObject);
  go.run(instance);
  return self.capcliEngine.init(world);
};
self.onmessage = async (event) => {
  const { number, wasm, world, operation, request } = event.data;
  try {
    if (wasm) engine = open(wasm, world);
    const opened = await engine;
    const text = wasm ? opened : self.capcliEngine.call(operation, request);
    self.postMessage({ number, text });
  } catch (error) {
    self.postMessage({ number, failed: String(error) });
  }
};
