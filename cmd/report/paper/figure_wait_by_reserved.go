package paper

import (
	"fmt"

	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/figure"
)

// The wait by the number of committed GPUs, with the limit on it.
func init() {
	register(Drawing{ID: "wait-by-reserved", Rank: 12, Needs: "a plan of capcli plan mix that varies the size of a committed pool", Draw: drawWaitByReserved})
}

func drawWaitByReserved(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.mixes {
		if f, ok := waitOfSizes(x.Doc); ok {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

func waitOfSizes(r *mix.Result) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "wait-by-reserved", Title: "Wait (95th percentile) by number of GPUs reserved", Kind: figure.Points, // no line: what lies between the sizes was not played
		X: figure.Axis{Label: "GPUs reserved", Unit: figure.Count}, Y: figure.Axis{Label: "Wait, 95th percentile", Unit: figure.Seconds},
	}
	s := figure.Series{Name: "Wait p95"}
	known := 0
	for i := range r.Sizes {
		z := &r.Sizes[i]
		lo, hi := unknown, unknown
		if len(z.WaitIn) == 2 {
			lo, hi = figure.Number(z.WaitIn[0]), figure.Number(z.WaitIn[1])
		}
		y := number(z.Wait)
		if !y.IsKnown() {
			lo, hi = unknown, unknown
		} else {
			known++
		}
		s.X, s.Y, s.Lo, s.Hi = append(s.X, figure.Number(z.GPUs)), append(s.Y, y), append(s.Lo, lo), append(s.Hi, hi)
		if z.Best {
			s.Chosen = append(s.Chosen, i)
		}
	}
	if known < 2 {
		return f, false
	}
	if r.Runs == 1 && r.OwnPast == nil {
		s.Lo, s.Hi = nil, nil
	}
	f.Series = []figure.Series{s}
	for _, l := range r.Limits {
		if l.Metric == "wait_p95" {
			f.Marks = append(f.Marks, figure.Mark{Label: "Limit " + l.Text, Axis: "y", At: figure.Number(l.Value)})
		}
	}
	for _, i := range s.Chosen {
		f.Marks = append(f.Marks, figure.Mark{Label: "Chosen", Axis: "x", At: s.X[i]})
	}
	f.Sentence = waitSentence(&f)
	f.Notes = []string{"95 of 100 jobs wait no longer; the value is the mean over the runs"}
	if r.OwnPast != nil {
		f.Notes = append(f.Notes, r.OwnPast.WidenedText())
	}
	return f, true
}

// waitSentence says how long jobs wait with the chosen number, with the fewest and with the most.
func waitSentence(f *figure.Figure) string {
	s := &f.Series[0]
	var parts []string
	for _, i := range s.Chosen {
		if s.Y[i].IsKnown() {
			text := fmt.Sprintf("with the chosen %s GPUs the p95 wait is %s", count(s.X[i]), wait(s.Y[i]))
			if s.Lo != nil && wait(s.Lo[i]) != wait(s.Hi[i]) {
				text += fmt.Sprintf(" (%s to %s)", wait(s.Lo[i]), wait(s.Hi[i]))
			}
			parts = append(parts, text)
		}
	}
	first, last := -1, -1
	for i, y := range s.Y {
		if y.IsKnown() {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	parts = append(parts, fmt.Sprintf("with %s it is %s, with %s it is %s", count(s.X[first]), wait(s.Y[first]), count(s.X[last]), wait(s.Y[last])))
	for _, m := range f.Marks {
		if m.Axis == "y" {
			parts = append(parts, "the limit is "+wait(m.At))
		}
	}
	return sentence(parts...)
}
