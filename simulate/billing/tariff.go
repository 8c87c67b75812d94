package billing

import (
	"fmt"
	"math"

	"capcli"
	"capcli/simulate"
)

// charge is what a cell costs: for time that jobs held, and for time that was
// paid for and nobody held.
type charge struct{ held, unused capcli.USD }

// chargeOf is what a pool on some terms costs in a month in which billed GPU time
// was billed to jobs. Owned and reserved capacity is paid for from delivery to the
// end of its term, down or up, held or not. On-demand and spot capacity is paid for
// while held, with what a minimum billing time adds, which is part of the holder's
// bill.
func chargeOf(t simulate.Terms, r Rate, s *simulate.Span, billed capcli.GPUTime) (charge, error) {
	held, err := cost(r.Price, billed)
	if err != nil || !t.Committed() {
		return charge{held: held}, err
	}
	all, err := cost(r.Price, s.Offered)
	return charge{held: held, unused: all - held}, err // rounding keeps order, so held is never over all
}

// cost is capcli.Cost with an amount that does not fit as an error.
func cost(r capcli.Rate, t capcli.GPUTime) (u capcli.USD, err error) {
	if r < 0 || t < 0 {
		return 0, fmt.Errorf("a price of %s for %d thousandths of GPU-seconds: neither may be negative", r.Decimal(), t)
	}
	defer func() {
		if p := recover(); p != nil {
			if e, ok := p.(error); ok {
				err = e
				return
			}
			panic(p)
		}
	}()
	return capcli.Cost(r, t), nil
}

// add sums two amounts that are not negative.
func add(a, b capcli.USD) (capcli.USD, error) {
	if a > math.MaxInt64-b {
		return 0, capcli.ErrOverflow
	}
	return a + b, nil
}
