//go:build js && wasm

// Command wasm is the engine for a page. It runs in a worker of a browser, and sets there the object
// capcliEngine with two functions of texts:
//
//	init(world)               the JSON of a live.World or a vary.World; returns {"ok": true}
//	call(operation, request)  a request's JSON; returns the JSON of the result
//
// Where a call fails its text is the document of the error: {"schema": "capcli/error/v1", "error": …}.
package main

import (
	"context"
	"syscall/js"

	"capcli/cmd/panel/reply"
)

func main() {
	_, engine := reply.Open("") // it answers that nothing was opened
	js.Global().Set("capcliEngine", map[string]any{
		"init": js.FuncOf(func(_ js.Value, args []js.Value) any {
			text, next := reply.Open(args[0].String())
			engine = next
			return text
		}),
		"call": js.FuncOf(func(_ js.Value, args []js.Value) any {
			return engine.Call(context.Background(), args[0].String(), args[1].String())
		}),
	})
	select {} // the functions stay until the worker ends
}
