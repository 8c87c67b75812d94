package curve

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"capcli"
)

// quantileLine is the value that is not exceeded with a probability, in each step.
type quantileLine struct {
	chance float64
	values []*float64
}

// valuesAt returns the mean of a series where q is 0, else the quantile q. A quantile between two
// of the forecast is interpolated as under a normal distribution. It fails where q lies outside the
// quantiles of the forecast.
func (s *forecastSeries) valuesAt(file string, q float64, lines map[string]float64) (values []*float64, note string, err error) {
	values = s.Mean
	if q > 0 {
		if values, note, err = s.quantile(file, q, lines); err != nil {
			return nil, "", err
		}
	}
	if len(values) != len(s.DS) {
		return nil, "", &capcli.InputError{File: file, Field: "mean", Text: fmt.Sprintf("%s: expected as many values as stamps, found %d for %d", s.ID, len(values), len(s.DS)), Hint: "check how it was cut"}
	}
	return values, note, nil
}

func (s *forecastSeries) quantile(file string, q float64, lines map[string]float64) ([]*float64, string, error) {
	have := s.quantiles(lines)
	i, exact := slices.BinarySearchFunc(have, q, func(l quantileLine, q float64) int {
		if math.Abs(l.chance-q) < 1e-9 {
			return 0
		}
		return cmp.Compare(l.chance, q)
	})
	switch {
	case exact:
		return have[i].values, "", nil
	case i == 0 || i == len(have):
		text := "none"
		if len(have) > 0 {
			text = fmt.Sprintf("%.4g to %.4g", have[0].chance, have[len(have)-1].chance)
		}
		return nil, "", &capcli.InputError{File: file, Field: "intervals", Text: fmt.Sprintf("%s: the quantile %g is outside those of the forecast, %s", s.ID, q, text), Hint: "forecast it with wider ranges: --level 80,95,99"}
	}
	below, above := have[i-1], have[i]
	z := distuv.UnitNormal.Quantile
	share := (z(q) - z(below.chance)) / (z(above.chance) - z(below.chance))
	out := make([]*float64, len(below.values))
	for k := range out {
		if below.values[k] == nil || k >= len(above.values) || above.values[k] == nil {
			continue
		}
		v := *below.values[k] + share*(*above.values[k]-*below.values[k])
		out[k] = &v
	}
	return out, fmt.Sprintf("*the quantile %g lies between those of %.4g and %.4g in the forecast, as under a normal law", q, below.chance, above.chance), nil
}

// quantiles returns the quantiles of a series, in order of probability.
func (s *forecastSeries) quantiles(lines map[string]float64) []quantileLine {
	var out []quantileLine
	add := func(chance float64, values []*float64) {
		same := func(l quantileLine) bool { return math.Abs(l.chance-chance) < 1e-9 }
		if chance > 0 && chance < 1 && len(values) == len(s.DS) && !slices.ContainsFunc(out, same) {
			out = append(out, quantileLine{chance, values})
		}
	}
	for _, iv := range s.Intervals {
		add(0.5-iv.Level/200, iv.Lo)
		add(0.5+iv.Level/200, iv.Hi)
	}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		add(lines[name], s.Lines[name])
	}
	slices.SortFunc(out, func(a, b quantileLine) int { return cmp.Compare(a.chance, b.chance) })
	return out
}
