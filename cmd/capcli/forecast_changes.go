package main

import (
	"fmt"
	"math"

	"capcli/cmd/report"
)

// namedChanges is how many changes a note names.
const namedChanges = 3

// changesTable has one row for each change; false where there is none.
func (r *forecastResult) changesTable() (report.Table, bool) {
	t := report.Table{Name: "changes", Aside: true, Columns: []report.Column{
		{Name: "unique_id", Head: "series"}, {Name: "change"}, {Name: "ds", Align: report.Left}, {Name: "expected"}, {Name: "found"},
	}}
	for i := range r.Series {
		s := &r.Series[i]
		for _, m := range s.Changepoints {
			t.Rows = append(t.Rows, []any{s.ID, "level", m.DS, m.From, m.To})
		}
		for _, a := range s.Anomalies {
			t.Rows = append(t.Rows, []any{s.ID, "value", a.DS, a.Expected, a.Value})
		}
	}
	return t, len(t.Rows) > 0
}

// changeNotes says in at most two lines what changed.
func (r *forecastResult) changeNotes() []string {
	var moves, odd []string
	moved, off := 0, 0 // series
	count := [2]int{}
	for i := range r.Series {
		s := &r.Series[i]
		name := ""
		if len(r.Series) > 1 {
			name = s.ID + " "
		}
		if n := len(s.Moves); n > 0 {
			moved++
			count[0] += n
			shown := 1 // of many series the last move each
			if len(r.Series) == 1 {
				shown = namedChanges
			}
			for _, m := range s.Moves[max(0, n-shown):] {
				moves = append(moves, fmt.Sprintf("%son %s from %s to %s", name, m.DS, level(m.From), level(m.To)))
			}
		}
		if n := len(s.Odd); n > 0 {
			off++
			count[1] += n
			a := s.Odd[0]
			odd = append(odd, fmt.Sprintf("%son %s (%s where %s was to be expected)", name, a.DS, level(a.Value), level(a.Expected)))
		}
	}
	var out []string
	if moved > 0 {
		how := ", "
		switch {
		case len(r.Series) > 1:
			how = ": "
		case count[0] > 1:
			how = ", lastly "
		}
		out = append(out, fmt.Sprintf("the level moved %s%s%s%s%s", times(count[0]), r.among(moved), how, listed(moves), rest(count[0], len(moves))))
	}
	if off > 0 {
		how := ", the first "
		switch {
		case len(r.Series) > 1:
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
	if len(r.Series) == 1 {
		return ""
	}
	return fmt.Sprintf(" in %d of %d series", n, len(r.Series))
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
