package billing

import (
	"capcli"
	"capcli/simulate"
)

// flat is owned and reserved capacity: all of it is paid for from delivery to
// the end of its term, down or up, held or not.
type flat struct{}

func (flat) charge(r Rate, s *simulate.Span, billed capcli.GPUTime) (charge, error) {
	all, err := cost(r.Price, s.Offered)
	if err != nil {
		return charge{}, err
	}
	held, err := cost(r.Price, billed) // rounding keeps order, so held is never over all
	return charge{held: held, unused: all - held}, err
}
