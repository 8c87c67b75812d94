package futures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/demand"
	"capcli/scenarios/decide/plan"
)

// Signal is a go/no-go: an event of which it is known from a date on whether it happens.
type Signal struct {
	Event  string
	At     capcli.Time
	Values []int // by future: 1 where it happens, else 0

	text string // of the date
}

// eventColumn begins the column of an event in a file of futures that capcli forecast writes.
const eventColumn = "event:"

const signalHint = "--futures signal=campaign=2027-07-01, with an event that may not happen (capcli forecast --events … --paths 200)"

func (s *Source) parseSignals() error {
	s.signals = nil
	if len(s.Signals) > 0 && s.File == "" {
		return &capcli.RequestError{Field: "signal", Text: "is about an event of the futures in a file, and these are drawn around a demand", Hint: signalHint}
	}
	for _, text := range s.Signals {
		at := strings.LastIndexByte(text, '=')
		if at < 1 {
			return &capcli.RequestError{Field: "signal", Text: fmt.Sprintf("wants EVENT=DATE, found %q", text), Hint: signalHint}
		}
		x := Signal{Event: text[:at], text: text[at+1:]}
		if slices.ContainsFunc(s.signals, func(o Signal) bool { return o.Event == x.Event }) {
			return &capcli.RequestError{Field: "signal", Text: fmt.Sprintf("has %s twice", x.Event), Hint: signalHint}
		}
		var err error
		if x.At, err = capcli.ParseTime(x.text, s.Demand.Trace.TZ, false); err != nil {
			return &capcli.RequestError{Field: "signal", Text: fmt.Sprintf("%s %v", x.Event, err), Hint: signalHint}
		}
		s.signals = append(s.signals, x)
	}
	return nil
}

func (s *Source) columns() (out []string) {
	for _, x := range s.signals {
		out = append(out, eventColumn+x.Event)
	}
	return out
}

// readSignals adds the signals of a set, whose futures are paths.
func (s *Source) readSignals(set *Set, paths []*demand.History) error {
	start, end := set.Futures.Start(), set.Futures.End()
	for k, x := range s.signals {
		switch {
		case !set.Mean.Dated():
			return &capcli.RequestError{Field: "signal", Text: "wants futures with dates, and those of " + set.Input + " have none", Hint: "leave signal= out"}
		case x.At <= start || x.At >= end:
			return &capcli.RequestError{Field: "signal", Text: fmt.Sprintf("%s=%s is not within the futures, from %s to %s", x.Event, x.text, start, end), Hint: signalHint}
		}
		for n, p := range paths {
			v := p.Further[k][0]
			if v != 0 && v != 1 || slices.ContainsFunc(p.Further[k], func(w float64) bool { return math.IsNaN(w) || w != v }) {
				return &capcli.InputError{File: set.Input, Field: eventColumn + x.Event, Text: fmt.Sprintf("future %d: expected 1 in each step, or 0 in each, for whether the event happens", n), Hint: writeHint}
			}
			x.Values = append(x.Values, int(v))
		}
		set.Signals = append(set.Signals, x)
	}
	return nil
}

// planned returns the signals as those of a plan's stages.
func (s *Set) planned() []plan.Signal {
	return capcli.Map(s.Signals, func(x Signal) plan.Signal {
		return plan.Signal{At: capcli.Seconds(x.At - s.Futures.Start()), Values: x.Values}
	})
}

// GoNoGo is the date from which it is known whether an event happens.
type GoNoGo struct {
	Event       string      `json:"event"`
	Date        capcli.Time `json:"date"`
	Probability float64     `json:"probability"` // share of the futures in which it happens
}

// Outcome says what is known of an event at a decision.
type Outcome struct {
	Event   string `json:"event"`
	Happens bool   `json:"happens"`
}

// goNoGos returns the signals as a document.
func (s *Set) goNoGos() []GoNoGo {
	var out []GoNoGo
	for _, x := range s.Signals {
		g := GoNoGo{Event: x.Event, Date: x.At}
		for _, v := range x.Values {
			g.Probability += float64(v) / float64(len(x.Values))
		}
		out = append(out, g)
	}
	return out
}

// outcomesOf returns what is known of events at a decision: those whose date has come, and that all futures of
// the decision agree on.
func (s *Set) outcomesOf(n *plan.Node) []Outcome {
	var out []Outcome
	for _, x := range s.Signals {
		first := x.Values[n.Futures[0]]
		if capcli.Seconds(x.At-s.Futures.Start()) <= n.From && !slices.ContainsFunc(n.Futures, func(k int) bool { return x.Values[k] != first }) {
			out = append(out, Outcome{x.Event, first == 1})
		}
	}
	return out
}

// FirstDecisions returns the first decision, those after it, and those on the date of a go/no-go. A nil w has none.
func (w *Waiting) FirstDecisions() []Decision {
	if w == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(w.Decisions), w.isLate)
}

// WaitingPlan is a plan that decides again, or not, with its mean cost.
type WaitingPlan struct {
	Name, Doc string
	Cost      capcli.USD
}

// Plans returns the plans that the value of waiting compares. A nil w has none.
func (w *Waiting) Plans() []WaitingPlan {
	if w == nil {
		return nil
	}
	out := []WaitingPlan{
		{"all_now", "decide all now", w.Now},
		{"again", "decide some now, revise every " + w.For, w.Again},
		{"first_now_rest_later", "buy the plan's first purchases now, then revise", w.Rest},
		{"all_later", "buy nothing for " + w.For + ", then revise", w.Later},
	}
	if len(w.Signals) > 0 {
		out = append(out, WaitingPlan{"again_untold", "decide some now, without the go/no-go dates", w.Again + w.Told})
	}
	return append(out, WaitingPlan{"known", "perfect information", w.Known})
}

// isLate reports whether a decision is neither the first nor the next after it, nor on the date of a go/no-go.
func (w *Waiting) isLate(d Decision) bool {
	return d.After != nil && *d.After > 0 && !slices.ContainsFunc(d.Events, func(o Outcome) bool { return !w.knew(*d.After, o.Event) })
}

func (w *Waiting) knew(decision int, event string) bool {
	return slices.ContainsFunc(w.Decisions[decision].Events, func(o Outcome) bool { return o.Event == event })
}

// KnownEvents says in words what is known of events at a decision: "campaign: go".
func (d *Decision) KnownEvents() string {
	out := capcli.Map(d.Events, func(o Outcome) string { return o.Event + map[bool]string{true: ": go", false: ": no-go"}[o.Happens] })
	return strings.Join(out, ", ")
}
