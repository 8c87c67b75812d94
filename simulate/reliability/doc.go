// Package reliability has the arithmetic of interruptions: how often to checkpoint, how long work
// takes when failures strike it, and how often enough nodes are up.
//
// Times are seconds in double precision, because they are means, not instants. Up times, down times
// and times between failures are exponential. The simulator must come to the same figures: its
// tests hold it to them.
package reliability
