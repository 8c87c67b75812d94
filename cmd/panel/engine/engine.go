// Package engine holds the engine of pages, if the program was built with it: make build, or make
// engine and then go build -tags engine ./cmd/capcli. The files are made, never committed.
package engine

import "capcli"

// Files are the engine: cmd/wasm for WebAssembly, and the script of the Go distribution that starts
// it (BSD licence, see its first lines).
type Files struct {
	WASM []byte // gzipped
	Exec string
}

// Load returns the engine. It fails with *capcli.RequestError if the program was built without it.
func Load() (*Files, error) {
	if len(wasm) == 0 {
		return nil, &capcli.RequestError{
			Field: "live", Text: "needs the engine for pages, and this capcli was built without it",
			Hint: "make build builds both; capcli serve RUN answers the same questions without it",
		}
	}
	return &Files{wasm, exec}, nil
}
