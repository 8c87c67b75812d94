package forecast

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"capcli"
	"capcli/forecast/model"
)

// combination forecasts with several models and takes their median, or mean. The
// ends of the intervals are combined in the same way (quantile averaging:
// Lichtendahl, Grushka-Cockayne & Winkler 2013). Members that cannot be fitted to
// a series are left out; it fails only when none can.
type combination struct {
	Members []model.Model
	Names   []string  // of the members, for people; may be nil
	Mean    bool      // the mean, not the median
	Weights []float64 // of the members; nil is all alike
}

var _ model.Model = combination{}

// Fit fits each member.
func (c combination) Fit(y capcli.Series) (model.Fitted, error) {
	var out combined
	var failures []error
	var parts []string
	for i, m := range c.Members {
		fit, err := m.Fit(y)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		out.members = append(out.members, fit)
		out.weights = append(out.weights, c.weight(i))
		out.slots = append(out.slots, i)
		parts = append(parts, fit.Info().Method)
	}
	if len(out.members) == 0 {
		return nil, fmt.Errorf("combination: no member fits: %w", errors.Join(failures...))
	}
	out.mean = c.Mean
	how := "Median"
	if c.Mean {
		how = "Mean"
	}
	out.info = model.Info{
		Method: how + " of " + strings.Join(parts, ", "), LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN(), Sigma2: math.NaN(),
		Fitted: out.fitted(len(y.Values)),
	}
	if left := len(c.Members) - len(out.members); left > 0 {
		out.info.Notes = append(out.info.Notes, fmt.Sprintf("%d of %d members could not be fitted", left, len(c.Members)))
	}
	return &out, nil
}

func (c combination) weight(i int) float64 {
	if i < len(c.Weights) {
		return c.Weights[i]
	}
	return 1
}
