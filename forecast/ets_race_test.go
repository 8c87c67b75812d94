//go:build race

package forecast

// etsRaced says that the race detector slows everything down.
const etsRaced = true
