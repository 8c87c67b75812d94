package main

import (
	"fmt"
	"math"

	"capcli/cmd/report"
	"capcli/forecast"
)

// What --changes may be.
const (
	changesShow = "show"
	changesNone = "none"
	changesUse  = "use" // show them, and learn from what came since the last move alone
)

// Bounds on looking for changes: the values of a call that does not ask for it, as
// it takes a fiftieth of the time of the models that search, but several times that
// of a plain one; and how many are given of one series.
const (
	lookedValues = 200_000
	givenChanges = 100
	namedChanges = 3 // in a note
)

// looks says whether this call looks for changes in the histories; where it does
// not though nobody said so, a note says that.
func (o *forecastOptions) looks(hs *histories) bool {
	if o.changes != "" {
		return o.changes != changesNone
	}
	values := 0
	for _, h := range hs.list {
		values += len(h.Values)
	}
	if o.model == defaultModel || values <= lookedValues {
		return true
	}
	hs.Notes = append(hs.Notes, fmt.Sprintf("%s series were not looked through for moves of their level and odd values: --changes show", grouped(int64(len(hs.list)))))
	return false
}

// changed is what a history has that is not its usual way.
type changed struct {
	moves []forecast.Changepoint
	odd   []forecast.Anomaly
}

// look finds the changes of the history, or of the demand behind it. The holidays
// that are known are no news.
func (f *forecasted) look(o *forecastOptions, opts forecast.Options) {
	y := f.h.Series
	y.Values = o.withoutHolidays(f.h, f.seen)
	moves, odd, err := forecast.Changes(y, opts.Seasons)
	if err != nil {
		return // too few values to tell, or figures too large: there is nothing to say
	}
	f.changed = &changed{moves, odd}
}

// since says from where the forecast was learnt, where that is not the start.
func (f *forecasted) since(fit forecast.Fitted) {
	b, ok := fit.(*forecast.BoundedFit)
	if !ok {
		return
	}
	if at := forecast.Since(b.Fitted); at > 0 {
		n := len(f.seen)
		for _, v := range f.seen {
			if !math.IsNaN(v) {
				break
			}
			at++ // the model began at the first value that is known
		}
		f.warnings = append(f.warnings, fmt.Sprintf("forecast from the values since the level moved, %s: %d of %d", f.h.StampText(at), n-at, n))
	}
}

type moveJSON struct {
	DS   string  `json:"ds"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Gain float64 `json:"gain"`
}

type oddJSON struct {
	DS       string  `json:"ds"`
	Value    float64 `json:"value"`
	Expected float64 `json:"expected"`
	Lo       float64 `json:"lo"`
	Hi       float64 `json:"hi"`
}

// changesJSON gives the last changes, at most givenChanges of each kind; nil
// where nobody looked.
func (f *forecasted) changesJSON() (moves []moveJSON, odd []oddJSON, left int) {
	if f.changed == nil {
		return nil, nil, 0
	}
	moves, odd = []moveJSON{}, []oddJSON{}
	for _, m := range last(f.changed.moves, givenChanges) {
		moves = append(moves, moveJSON{f.h.StampText(m.Index), m.Before, m.After, m.Gain})
	}
	for _, a := range last(f.changed.odd, givenChanges) {
		odd = append(odd, oddJSON{f.h.StampText(a.Index), a.Value, a.Expected, a.Lo, a.Hi})
	}
	return moves, odd, len(f.changed.moves) + len(f.changed.odd) - len(moves) - len(odd)
}

func last[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// moreTables are those that only some calls have.
func (r *forecastResult) moreTables() []report.Table {
	var out []report.Table
	if r.o.plan != nil {
		out = append(out, r.eventsTable())
	}
	if t, some := r.changesTable(); some {
		out = append(out, t)
	}
	return out
}

// changesTable has one row for each change; false where there is none.
func (r *forecastResult) changesTable() (report.Table, bool) {
	t := report.Table{Name: "changes", Aside: true, Columns: []report.Column{
		{Name: "unique_id", Head: "series"}, {Name: "change"}, {Name: "ds", Align: report.Left}, {Name: "expected"}, {Name: "found"},
	}}
	for _, f := range r.list {
		if f.changed == nil {
			continue
		}
		for _, m := range last(f.changed.moves, givenChanges) {
			t.Rows = append(t.Rows, []any{f.h.Name, "level", f.h.StampText(m.Index), m.Before, m.After})
		}
		for _, a := range last(f.changed.odd, givenChanges) {
			t.Rows = append(t.Rows, []any{f.h.Name, "value", f.h.StampText(a.Index), a.Expected, a.Value})
		}
	}
	return t, len(t.Rows) > 0
}

// changeNotes says in at most two lines what changed.
func (r *forecastResult) changeNotes() []string {
	var moves, odd []string
	moved, off := 0, 0 // series
	count := [2]int{}
	for _, f := range r.list {
		if f.changed == nil {
			continue
		}
		name := ""
		if len(r.list) > 1 {
			name = f.h.Name + " "
		}
		if n := len(f.changed.moves); n > 0 {
			moved++
			count[0] += n
			shown := 1 // of many series the last move each
			if len(r.list) == 1 {
				shown = namedChanges
			}
			for _, m := range last(f.changed.moves, shown) {
				moves = append(moves, fmt.Sprintf("%son %s from %s to %s", name, f.h.StampText(m.Index), level(m.Before), level(m.After)))
			}
		}
		if n := len(f.changed.odd); n > 0 {
			off++
			count[1] += n
			a := f.changed.odd[0]
			odd = append(odd, fmt.Sprintf("%son %s (%s where %s was to be expected)", name, f.h.StampText(a.Index), level(a.Value), level(a.Expected)))
		}
	}
	var out []string
	if moved > 0 {
		how := ", "
		switch {
		case len(r.list) > 1:
			how = ": "
		case count[0] > 1:
			how = ", lastly "
		}
		out = append(out, fmt.Sprintf("the level moved %s%s%s%s%s", times(count[0]), r.among(moved), how, listed(moves), rest(count[0], len(moves))))
	}
	if off > 0 {
		how := ", the first "
		switch {
		case len(r.list) > 1:
			how = ": "
		case count[1] == 1:
			how = ", "
		}
		out = append(out, fmt.Sprintf("%s %s out%s%s%s%s", oddCount(count[1], "value"), verb(count[1], "stand"), r.among(off), how, listed(odd), rest(count[1], len(odd))))
	}
	return out
}

// among says in how many series something is, where there are several.
func (r *forecastResult) among(n int) string {
	if len(r.list) == 1 {
		return ""
	}
	return fmt.Sprintf(" in %d of %d series", n, len(r.list))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// oddCount is n of something.
func oddCount(n int, word string) string {
	return fmt.Sprintf("%s %s", grouped(int64(n)), plural(int64(n), word))
}

func verb(n int, word string) string {
	if n == 1 {
		return word + "s"
	}
	return word
}

func listed(items []string) string {
	text := ""
	for i, s := range items[:min(len(items), namedChanges)] {
		if i > 0 {
			text += ", "
		}
		text += s
	}
	return text
}

// rest says where the changes are that a note does not name.
func rest(all, named int) string {
	if all > min(named, namedChanges) {
		return " (all: --table changes)"
	}
	return ""
}

// level writes a figure for people.
func level(v float64) string {
	digits := 3
	if math.Abs(v) >= 1000 {
		digits = int(math.Log10(math.Abs(v))) + 1
	}
	return fmt.Sprintf("%.*g", digits, v)
}

// checkChanges refuses another word.
func (o *forecastOptions) checkChanges() error {
	if o.changes == "" {
		return nil
	}
	return oneOf("--changes", o.changes, changesShow, changesNone, changesUse)
}
