package outlook

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast/change"
	"capcli/profile/logs/series"
)

// KeepOutliers is the choice of Request.Outliers that takes every history as it is.
const KeepOutliers = "keep"

// OutlierChoices are the valid values of Request.Outliers.
var OutlierChoices = []string{"aside", KeepOutliers}

// setAside replaces what the histories cannot have shown by estimates: isolated absurd values,
// outages of what recorded them, and gaps in a recording of GPUs. It looks for outages of all series
// together too. Sums are made of their parts again.
func (q *question) setAside() {
	if q.Outliers == KeepOutliers {
		return
	}
	parts := q.views[q.sums():]
	common := q.commonOutages(parts)
	changed := make([]bool, len(parts))
	for j, v := range parts {
		known := v.recordingGaps()
		if common != nil {
			known = append(known, common[j]...)
		}
		changed[j] = v.mend(known)
	}
	for i := range q.sums() {
		of := q.hs.Tree.PartsOf[i]
		if slices.ContainsFunc(of, func(j int) bool { return changed[j] }) {
			q.views[i].sumUp(parts, of)
		}
	}
}

// mend replaces the spoilt values of v and reports whether there are any. known are outages that are
// known. Where a queue or a capacity tells what was wanted, zeros are no outage.
func (v *view) mend(known []change.Spoilt) bool {
	raw, c := v.Values, v.Censoring
	found := change.FindSpoilt(raw, known, v.options.Seasons)
	if c != nil {
		found = slices.DeleteFunc(found, func(s change.Spoilt) bool { return s.Outage && !math.IsNaN(meanKnown(raw[s.From:s.To])) })
	}
	if len(found) == 0 || c != nil && c.Into != nil && c.Combine == series.Max {
		return false
	}
	v.spoilt = found
	if c != nil {
		own := *c
		v.Censoring, v.usage = &own, &unconstrainer{Censoring: &own}
		if c.Into == nil {
			own.Fine.Values = change.Mend(c.Fine.Values, found, v.options.Seasons)
			v.Values = own.Fine.Values
		} else {
			own.Fine.Values = change.Mend(c.Fine.Values, finer(found, c.Into), usualSeasons(c.FineStep))
			v.Values = c.Fold(raw, own.Fine.Values)
		}
	} else {
		v.Values = change.Mend(raw, found, v.options.Seasons)
	}
	for _, s := range found {
		odd := OddValue{DS: v.StampText(s.From), Value: knownOr0(raw[s.From:s.To]), Expected: knownOr0(v.Values[s.From:s.To]), SetAside: true, Outage: s.Outage}
		if s.To-s.From > 1 {
			odd.Until = v.StampText(s.To - 1)
		}
		odd.Lo, odd.Hi = odd.Expected, odd.Expected
		odd.running = s.Outage && s.To == len(raw)
		v.aside = append(v.aside, odd)
	}
	return true
}

// knownOr0 returns the mean of the known values, 0 where there are none.
func knownOr0(v []float64) float64 {
	if m := meanKnown(v); !math.IsNaN(m) {
		return m
	}
	return 0
}

// finer returns stretches of steps as stretches of the fine steps that lie in them. into has the
// step of each fine step.
func finer(found []change.Spoilt, into []int) []change.Spoilt {
	var out []change.Spoilt
	for _, s := range found {
		from, _ := slices.BinarySearch(into, s.From)
		to, _ := slices.BinarySearch(into, s.To)
		out = append(out, change.Spoilt{From: from, To: to, Outage: s.Outage})
	}
	return out
}

// sumUp makes a sum of its parts again. Parts and sum end together, and a part counts as 0 before its
// first value.
func (v *view) sumUp(parts []*view, of []int) {
	v.Values = make([]float64, len(v.Values))
	for _, j := range of {
		late := len(v.Values) - len(parts[j].Values)
		for i, x := range parts[j].Values {
			if k := late + i; k >= 0 {
				v.Values[k] += x
			}
		}
		for _, s := range parts[j].spoilt {
			if s.From += late; s.From >= 0 {
				s.To += late
				v.spoilt = append(v.spoilt, s)
			}
		}
	}
}

// gapShare is the most of a recording that gaps take that are bridged.
const gapShare = 0.1

// recordingGaps returns the gaps of a history that was recorded from GPUs, whose recorder was down then;
// nil for one of another kind, and where there are too many.
func (v *view) recordingGaps() []change.Spoilt {
	if v.Set.Measure == "" || float64(v.Missing()) > gapShare*float64(len(v.Values)) {
		return nil
	}
	var out []change.Spoilt
	for i := 0; i < len(v.Values); i++ {
		from := i
		for i < len(v.Values) && math.IsNaN(v.Values[i]) {
			i++
		}
		if i > from {
			out = append(out, change.Spoilt{From: from, To: i, Outage: true})
		}
	}
	return out
}

// commonOutages returns, for each view, the steps in which nothing was recorded of any series at
// once; nil where there are none, fewer than two series, or series on different steps.
func (q *question) commonOutages(parts []*view) [][]change.Spoilt {
	if len(parts) < 2 {
		return nil
	}
	ref := slices.MinFunc(parts, func(a, b *view) int { return int(min(1, max(-1, a.Stamp(0)-b.Stamp(0)))) })
	begin := make([]int, len(parts))
	var total []float64
	for j, v := range parts {
		at, ok := ref.IndexOf(v.Stamp(0))
		if !ok || at+len(v.Values) > maxFit+len(ref.Values) {
			return nil
		}
		begin[j] = at
		for len(total) < at+len(v.Values) {
			total = append(total, math.NaN())
		}
		for i, x := range v.Values {
			switch {
			case math.IsNaN(x):
			case math.IsNaN(total[at+i]):
				total[at+i] = x
			default:
				total[at+i] += x
			}
		}
	}
	found := change.FindOutages(total, ref.options.Seasons)
	if len(found) == 0 {
		return nil
	}
	out := make([][]change.Spoilt, len(parts))
	for j, v := range parts {
		for _, s := range found {
			s.From, s.To = max(0, s.From-begin[j]), min(len(v.Values), s.To-begin[j])
			if s.From < s.To {
				out[j] = append(out[j], s)
			}
		}
	}
	return out
}

// judged returns the values with which forecasts are compared: actual, or the history where it is
// nil, NaN in spoilt steps.
func (v *view) judged(actual []float64) []float64 {
	if actual == nil {
		actual = v.Values
	}
	if len(v.spoilt) == 0 {
		return actual
	}
	out := slices.Clone(actual)
	for _, s := range v.spoilt {
		for i := s.From; i < s.To; i++ {
			out[i] = math.NaN()
		}
	}
	return out
}

// asideNotes returns notes on what was set aside: one on absurd values, one on outages.
func (r *Result) asideNotes() []string {
	var absurd, outages mentions
	running := false
	for i := range r.Series {
		s := &r.Series[i]
		name, of := r.namePrefix(s, " "), [2]int{}
		for _, a := range s.Odd {
			switch {
			case !a.SetAside:
			case a.Outage:
				running = running || a.running
				outages.add(name, a.whenText()+a.asText(), &of[0])
			default:
				absurd.add(name, fmt.Sprintf("%s (%s, expected %s)", a.whenText(), amountText(a.Value), amountText(a.Expected)), &of[1])
			}
		}
	}
	const keep = "; --fit outliers=keep counts it"
	var out []string
	if absurd.count > 0 {
		what := "1 value set aside that the series cannot have"
		if absurd.count > 1 {
			what = capcli.Grouped(int64(absurd.count)) + " values set aside that the series cannot have"
		}
		out = append(out, absurd.note(what, ": ", len(r.Series))+keep)
	}
	if outages.count > 0 {
		what := "nothing was recorded: bridged"
		if running {
			what = "nothing was recorded, up to now: bridged, not forecast"
		}
		out = append(out, outages.note(what, ": ", len(r.Series))+keep)
	}
	return out
}

// add adds a text on one change of a series. own counts the changes of that series.
func (m *mentions) add(name, text string, own *int) {
	if *own++; *own == 1 {
		m.series++
	}
	m.count++
	m.texts = append(m.texts, name+text)
}

func (a *OddValue) whenText() string {
	if a.Until == "" {
		return "on " + a.DS
	}
	return "from " + a.DS + " to " + a.Until
}

func (a *OddValue) asText() string { return " (as " + amountText(a.Expected) + ")" }
