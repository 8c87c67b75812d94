package rhythm

import (
	"encoding/binary"
	"errors"
	"math"
)

// errTally is the error of bytes that Append did not write.
var errTally = errors.New("rhythm: damaged tally")

// ParseTally reads what Append wrote.
func ParseTally(from []byte) (Tally, error) {
	var t Tally
	bad := false
	next := func(most uint64) uint64 {
		v, n := binary.Uvarint(from)
		if n <= 0 || v > most {
			bad = true
			return 0
		}
		from = from[n:]
		return v
	}
	t.Judged = int64(next(math.MaxInt64))
	at := uint64(0)
	for i := 0; len(from) > 0 && !bad; i++ {
		step := next(mostBins)
		at += step
		b := Bin{At: int32(at), N: int32(next(math.MaxInt32)), Sure: int32(next(math.MaxInt32)), Micros: int64(next(math.MaxInt64))}
		if i > 0 && step == 0 || at >= mostBins || b.N < 1 || b.Sure > b.N || int64(b.N) > t.Judged {
			bad = true
		}
		t.Bins = append(t.Bins, b)
	}
	if bad {
		return Tally{}, errTally
	}
	return t, nil
}
