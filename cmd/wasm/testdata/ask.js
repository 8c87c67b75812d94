// Runs the engine under Node: node ask.js wasm_exec.js engine.wasm world.json, with a line
// "operation request" on stdin for each request. Prints a line with each answer, and the time of each
// in milliseconds on stderr.
'use strict';
const fs = require('fs');
const [, , exec, wasm, world] = process.argv;
require(exec);
(async () => {
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(fs.readFileSync(wasm), go.importObject);
  go.run(instance);
  const answers = [capcliEngine.init(fs.readFileSync(world, 'utf8'))];
  for (const line of fs.readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
    const [operation] = line.split(' ', 1);
    const begun = performance.now();
    answers.push(capcliEngine.call(operation, line.slice(operation.length + 1)));
    console.error((performance.now() - begun).toFixed(0));
  }
  // A pipe takes its bytes later: exit only once all are written.
  process.stdout.write(answers.join('\n') + '\n', () => process.exit(0));
})();
