// Package reliability has the arithmetic of interruptions: how often to checkpoint.
//
// Times are seconds in double precision, because they are means, not instants. Times between failures are
// exponential.
package reliability
