package forecast

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/model"
)

// drawnLaw is a law of hourly demand: a daily course of an amplitude, and an autoregression of order
// 1 around it with normal steps of standard deviation 1. At phi 1 it is a random walk.
type drawnLaw struct {
	name     string
	phi, day float64
}

// drawnLaws are the laws whose ranges are known exactly.
var drawnLaws = []drawnLaw{{"white", 0, 0}, {"AR 0.7", 0.7, 0}, {"AR 0.9", 0.9, 0}, {"day", 0, 3}, {"AR 0.8, day", 0.8, 3}, {"walk", 1, 0}}

// daily returns the mean of step i.
func (l drawnLaw) daily(i int) float64 { return 100 + l.day*math.Sin(2*math.Pi*float64(i)/24) }

// draw returns the values of the steps after those of past, n of them.
func (l drawnLaw) draw(rng model.Noise, past []float64, n int) []float64 {
	off, out := 0.0, make([]float64, n)
	if len(past) > 0 {
		off = past[len(past)-1] - l.daily(len(past)-1)
	}
	for i := range out {
		off = l.phi*off + rng.NormFloat64()
		out[i] = l.daily(len(past)+i) + off
	}
	return out
}

// ahead returns the mean and the standard deviation of each of the h steps after past, given past.
func (l drawnLaw) ahead(past []float64, h int) (mean, sd []float64) {
	off, variance := past[len(past)-1]-l.daily(len(past)-1), 0.0
	for i := range h {
		off, variance = off*l.phi, variance*l.phi*l.phi+1
		mean, sd = append(mean, l.daily(len(past)+i)+off), append(sd, math.Sqrt(variance))
	}
	return mean, sd
}

// chanceWithin returns the chance of each step after past to lie within iv, given past.
func (l drawnLaw) chanceWithin(past []float64, iv model.Interval) []float64 {
	mean, sd := l.ahead(past, len(iv.Lo))
	out := make([]float64, len(iv.Lo))
	for i := range out {
		below := func(v float64) float64 { return math.Erfc((mean[i]-v)/sd[i]/math.Sqrt2) / 2 }
		out[i] = below(iv.Hi[i]) - below(iv.Lo[i])
	}
	return out
}

// rangeSet is a set of starts whose ranges are measured by group of steps.
type rangeSet struct {
	demandSet
	ends []int     // the steps after which each group ends, the horizon last
	law  *drawnLaw // nil where it is not known
}

// stepGroups returns the ends of the groups of a horizon of h steps, each of them 24 hours or one
// day long: the first day, the rest of the first week and what is left. It returns thirds of the
// horizon where stepsOfDay is 0.
func stepGroups(h, stepsOfDay int) []int {
	if stepsOfDay == 0 {
		return []int{h / 3, 2 * h / 3, h}
	}
	return slices.Compact([]int{min(h, stepsOfDay), min(h, 7*stepsOfDay), h})
}

// rangeSets returns all sets of the accuracy tables, and drawn ones.
func rangeSets(t *testing.T) []rangeSet {
	t.Helper()
	perDay := map[string]int{"hourly": 24, "daily69": 1, "gpu-demand": 24}
	var out []rangeSet
	for _, c := range contests {
		s := rangeSet{demandSet: demandSet{name: c.name, seasons: c.seasons, period: c.period}}
		train, test := table(t, c.train), table(t, c.test)
		for i := range train {
			s.list = append(s.list, demandStart{train[i], test[i]})
		}
		s.ends = stepGroups(len(test[0]), perDay[c.name])
		out = append(out, s)
	}
	for _, d := range demandSets(t) {
		if h := d.until[len(d.until)-1]; d.name != "GPU demand, 1 h" { // which is among the contests
			out = append(out, rangeSet{demandSet: d, ends: stepGroups(h, 0)})
		}
	}
	for _, law := range drawnLaws {
		out = append(out, drawnSet(law, []int{24}, 24*28, 48))
		if law.day == 0 {
			out = append(out, drawnSet(law, nil, 200, 24))
		}
	}
	return out
}

// drawnSet returns a set of series of n values and their next h, drawn from a law.
func drawnSet(law drawnLaw, seasons []int, n, h int) rangeSet {
	const each = 40
	name := "drawn: " + law.name
	s := rangeSet{demandSet: demandSet{name: name, seasons: seasons, period: 24}, ends: stepGroups(h, 24), law: &law}
	if seasons == nil {
		s.name, s.period, s.ends = name+" of no season", 1, stepGroups(h, 0)
	}
	for k := range each {
		past := law.draw(capcli.Seed(91).Child(k).Stream("ranges/"+law.name), nil, n)
		s.list = append(s.list, demandStart{past, law.draw(capcli.Seed(92).Child(k).Stream("ranges/"+law.name), past, h)})
	}
	return s
}

// TestAccuracyOfRanges prints, of each set, what the ranges of auto held by group of steps, their
// MSIS, the same score of 80 % ranges, their width over the best possible
// where the law is known, and for how many starts the capacity that suffices with 80 and 95 % did.
// CAPCLI_ACCURACY=1 runs it; CAPCLI_SETS chooses by name.
func TestAccuracyOfRanges(t *testing.T) {
	if os.Getenv("CAPCLI_ACCURACY") == "" {
		t.Skip("CAPCLI_ACCURACY is not set")
	}
	fmt.Println("| set | starts | groups end at | in 80 % | | | in 95 % | | | MSIS | 80 % score | width over best | suffices 80 % | 95 % |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, s := range rangeSets(t) {
		if list := os.Getenv("CAPCLI_SETS"); list == "" || strings.Contains(","+list+",", ","+s.name+",") {
			s.print(t)
		}
	}
}

// measured is what the ranges of one start held.
type measured struct {
	inside   [2][]float64 // by level and group: share of its steps, or their chance where the law is known
	scores   [2]float64   // scaled interval scores, by level
	width    float64      // of the 80 % range over the best possible, after the first group
	suffices [2]float64   // share or chance of the highest step to lie within the 80 and 95 % quantile of futures
}

// print prints the row of a set.
func (s *rangeSet) print(t *testing.T) {
	all := make([]measured, len(s.list))
	s.fitEach(t, func(i int, fit model.Fitted) error {
		var err error
		all[i], err = s.measure(i, fit)
		return err
	})
	mean := func(of func(m *measured) float64) float64 {
		var list []float64
		for i := range all {
			if v := of(&all[i]); model.IsFinite(v) {
				list = append(list, v)
			}
		}
		return model.Mean(list)
	}
	ends := make([]string, len(s.ends))
	for g, end := range s.ends {
		ends[g] = fmt.Sprint(end)
	}
	fmt.Printf("| %s | %d | %s |", s.name, len(all), strings.Join(ends, ", "))
	for k := range 2 {
		for g := range 3 {
			if g >= len(s.ends) {
				fmt.Print(" |")
				continue
			}
			fmt.Printf(" %.3f |", mean(func(m *measured) float64 { return m.inside[k][g] }))
		}
	}
	fmt.Printf(" %.2f | %.2f |", mean(func(m *measured) float64 { return m.scores[1] }), mean(func(m *measured) float64 { return m.scores[0] }))
	if s.law == nil {
		fmt.Print(" |")
	} else {
		fmt.Printf(" %.3f |", mean(func(m *measured) float64 { return m.width }))
	}
	fmt.Printf(" %.3f | %.3f |\n", mean(func(m *measured) float64 { return m.suffices[0] }), mean(func(m *measured) float64 { return m.suffices[1] }))
}

// measure measures the ranges of the fit to the past of start i.
func (s *rangeSet) measure(i int, fit model.Fitted) (m measured, err error) {
	one, h := s.list[i], len(s.list[i].came)
	f, err := fit.Forecast(h, 80, 95)
	if err != nil {
		return m, err
	}
	for k, iv := range f.Intervals {
		held := make([]float64, h)
		if s.law != nil {
			held = s.law.chanceWithin(one.past, iv)
		} else {
			for i := range held {
				held[i] = coverage(one.came[i:i+1], model.Interval{Lo: iv.Lo[i : i+1], Hi: iv.Hi[i : i+1]})
			}
		}
		from := 0
		for _, end := range s.ends {
			m.inside[k] = append(m.inside[k], model.Mean(held[from:end]))
			from = end
		}
		m.scores[k] = msis(one.came, iv, scale(one.past, s.period))
	}
	came := [][]float64{one.came}
	if s.law != nil {
		_, sd := s.law.ahead(one.past, h)
		for k := s.ends[0]; k < h; k++ {
			m.width += (f.Intervals[0].Hi[k] - f.Intervals[0].Lo[k]) / (2 * model.ZScore(80) * sd[k]) / float64(h-s.ends[0])
		}
		for k := range 100 {
			came = append(came, s.law.draw(capcli.Seed(93).Child(i).Child(k).Stream("highest"), one.past, h))
		}
	}
	top := make([]float64, 400)
	for k := range top {
		top[k] = slices.Max(fit.Path(h, capcli.Seed(1).Child(k).Stream("path/y")))
	}
	slices.Sort(top)
	for k, q := range []float64{0.8, 0.95} {
		for _, values := range came {
			if slices.Max(values) <= model.Quantile(top, q) {
				m.suffices[k] += 1 / float64(len(came))
			}
		}
	}
	return m, nil
}

// fitEach fits auto, as it is shipped, to the past of each start.
func (s *rangeSet) fitEach(t *testing.T, do func(i int, fit model.Fitted) error) {
	t.Helper()
	err := capcli.EachParallel(t.Context(), len(s.list), func(_ context.Context, i int) error {
		y := capcli.Series{Name: "y", Step: 3600, Values: s.list[i].past}
		m, err := Shipped("auto", y, len(s.list[i].came), Options{Seasons: s.seasons, Seed: 1})
		if err != nil {
			return err
		}
		fit, err := m.Fit(y)
		if err != nil {
			return err
		}
		return do(i, fit)
	})
	if err != nil {
		t.Errorf("%s: %v", s.name, err)
	}
}
