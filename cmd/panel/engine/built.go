//go:build engine

package engine

import _ "embed" // make engine writes the files

//go:embed engine.wasm.gz
var wasm []byte

//go:embed wasm_exec.js
var exec string
