package billing

import (
	"fmt"
	"math"

	"capcli"
	"capcli/simulate"
)

// product is a kind of contract.
type product interface {
	// charge says what a pool under the contract costs in a month in which
	// billed GPU time was billed to jobs.
	charge(r Rate, s *simulate.Span, billed capcli.GPUTime) (charge, error)
}

// charge is what a cell costs: for time that jobs held, and for time that was
// paid for and nobody held.
type charge struct{ held, unused capcli.USD }

// productOf is the contract behind terms.
func productOf(t simulate.Terms) product {
	if t.Committed() {
		return flat{}
	}
	return metered{}
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
