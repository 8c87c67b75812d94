package scale

import "capcli/simulate"

func init() {
	add("none", "keeps the units that there are", func(*values) (simulate.NewScaler, error) {
		return func() simulate.Scaler { return none{} }, nil
	})
}

// none keeps the number of units.
type none struct{}

// Desired implements simulate.Scaler.
func (none) Desired(s *simulate.ScaleState) int { return s.Ready + s.Loading }
