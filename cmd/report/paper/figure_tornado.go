package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/figure"
)

// What moves the cost of the plan: one change at a time, both ways.
func init() {
	register(Drawing{ID: "tornado", Rank: 80, Needs: "a plan of capcli plan mix with a best mix", Draw: drawTornado})
}

func drawTornado(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.mixes {
		if f, ok := tornado(x.Doc); ok {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

// pair is a change downwards and its opposite.
type pair struct {
	name   string
	lo, hi figure.Number // unknown where there is no such change
}

func (p *pair) width(base figure.Number) figure.Number {
	var w figure.Number
	for _, v := range []figure.Number{p.lo, p.hi} {
		if v.IsKnown() {
			w = max(w, figure.Number(math.Abs(float64(v-base))))
		}
	}
	return w
}

func tornado(r *mix.Result) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "tornado", Title: "What moves the cost of the plan", Kind: figure.Tornado,
		X: figure.Axis{Label: "One change", Unit: figure.Name}, Y: figure.Axis{Label: "Cost a year", Unit: figure.USD},
	}
	if r.Best == nil || r.Best.PerYear == nil || len(r.Tornado) == 0 {
		return f, false
	}
	base := dollars(*r.Best.PerYear)
	pairs := pairsOf(r)
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.width(base), a.width(base)) })
	s := figure.Series{Name: "Cost a year"}
	for i := range pairs {
		p := &pairs[i]
		f.X.Names = append(f.X.Names, p.name)
		s.Lo, s.Hi = append(s.Lo, p.lo), append(s.Hi, p.hi)
	}
	f.Series = []figure.Series{s}
	f.Marks = []figure.Mark{{Label: "The plan", Axis: "y", At: base}}
	f.Sentence = tornadoSentence(&f)
	f.Notes = []string{"low is less demand, a lower price, half; high is more demand, a higher price, twice; the mix stays as it is, and limits may break"}
	return f, true
}

// pairsOf joins changes of opposite directions.
func pairsOf(r *mix.Result) []pair {
	var out []pair
	for i := range r.Tornado {
		w := &r.Tornado[i]
		name, high := changeName(w.What)
		k := slices.IndexFunc(out, func(p pair) bool { return p.name == name })
		if k < 0 {
			k, out = len(out), append(out, pair{name, unknown, unknown})
		}
		cost := dollars(yearly(w.Cost, r.Best.Length))
		if high {
			out[k].hi = cost
		} else {
			out[k].lo = cost
		}
	}
	return out
}

// changeName returns a change without its direction, and whether it is upwards: "demand -10%" is
// "demand ±10%" downwards.
func changeName(what string) (name string, high bool) {
	for _, w := range []struct {
		word, both string
		high       bool
	}{{" -", " ±", false}, {" +", " ±", true}} {
		if i := strings.LastIndex(what, w.word); i > 0 && strings.HasSuffix(what, "%") {
			return what[:i] + w.both + what[i+len(w.word):], w.high
		}
	}
	if rest, ok := strings.CutPrefix(what, "half "); ok {
		return rest + ", half or twice", false
	}
	if rest, ok := strings.CutPrefix(what, "twice "); ok {
		return rest + ", half or twice", true
	}
	return what, true
}

// tornadoSentence says which change moves the cost most, and between which costs.
func tornadoSentence(f *figure.Figure) string {
	s, base := &f.Series[0], f.Marks[0].At
	side := func(v figure.Number) string {
		switch {
		case !v.IsKnown():
			return ""
		case v >= base:
			return usd(v-base) + " more"
		}
		return usd(base-v) + " less"
	}
	text := fmt.Sprintf("the largest change is that of %s", f.X.Names[0])
	lo, hi := side(s.Lo[0]), side(s.Hi[0])
	switch {
	case lo != "" && hi != "":
		text += fmt.Sprintf(": low it is %s, high it is %s", lo, hi)
	default:
		text += ": it is " + lo + hi
	}
	return sentence(fmt.Sprintf("the plan costs %s a year", usd(base)), text)
}
