package billing

import (
	"fmt"

	"capcli"
	"capcli/simulate"
)

// JobCost is the direct cost of a job at the prices of its pools, before
// commitments that make on-demand use cheaper: what was billed for the time it held
// GPUs, each pool's at its rate. It has no part in what nobody held. The costs
// of all jobs sum to an invoice's direct cost but for rounding: each hold is
// rounded by itself, half a millionth of a dollar at most. It fails with
// capcli.ErrOverflow when the cost does not fit.
func JobCost(holds []simulate.Hold, rates []Rate) (capcli.USD, error) {
	var sum capcli.USD
	for _, h := range holds {
		c, err := cost(rates[h.Pool].At(h.Since).Price, h.Billed)
		if err == nil {
			sum, err = add(sum, c)
		}
		if err != nil {
			return 0, fmt.Errorf("price a job: %w", err)
		}
	}
	return sum, nil
}
