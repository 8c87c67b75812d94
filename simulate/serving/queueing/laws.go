// Package queueing answers questions about services without playing requests: closed forms of queues, and
// an approximation of a replica that batches continuously, for steps of any length and for months.
//
// Every answer is a mean. No percentile follows from it: for those, play the requests (serving.Replay).
package queueing

import (
	"fmt"
	"math"

	"capcli"
)

// checkPositive returns an error that names the field unless x is a finite number above 0.
func checkPositive(field string, x float64) error {
	if !(x > 0) || math.IsInf(x, 1) {
		return &capcli.RequestError{Field: field, Text: fmt.Sprintf("wants a number above 0, found %v", x)}
	}
	return nil
}
