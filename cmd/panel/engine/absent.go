//go:build !engine

package engine

var (
	wasm []byte
	exec string
)
