package billing

import (
	"capcli"
	"capcli/simulate"
)

// metered is on-demand and spot capacity: paid for while held, with what a
// minimum billing time adds. That addition is part of the holder's bill.
type metered struct{}

func (metered) charge(r Rate, _ *simulate.Span, billed capcli.GPUTime) (charge, error) {
	held, err := cost(r.Price, billed)
	return charge{held: held}, err
}
