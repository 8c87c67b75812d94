package series

import (
	"fmt"
	"slices"
	"strings"
)

// layout are the indices of a table's columns by their meaning. Where there are several
// columns of ids, the name of a series is all of them, joined by "/".
type layout struct {
	ids         []int // columns of ids; none if the table is one series
	time, value int   // columns of stamps and of values; -1 if there is none
	more        []int // columns of Options.More
	wide        []int // columns that are a series each
}

// find returns the layout of a header. A header without an id column has one series. Where no
// column has a name for values, and one column is left over, that column holds the values. find
// fails where a required column is missing or ambiguous.
func (t *Table) find(names []string, line int, o Options) (layout, error) {
	c := columns(names)
	if o.Loose && len(c.ids(o.ID)) == 0 {
		o.ID = ""
	}
	if o.Loose && !slices.Contains(names, o.Time) {
		o.Time = ""
	}
	l := layout{ids: c.ids(o.ID), time: c.find(o.Time, timeNames), value: c.find(o.Value, append(slices.Clone(o.Usual), valueNames...))}
	for _, want := range []struct {
		flag, name string
		at         int
	}{{"--id-col", o.ID, len(l.ids) - 1}, {"--time-col", o.Time, l.time}, {"--value-col", o.Value, l.value}} {
		if want.at >= 0 || want.name == "" {
			continue
		}
		return l, t.noColumn(line, want.name, names, "name it with "+want.flag)
	}
	for _, name := range o.More {
		at := slices.Index(names, name)
		if at < 0 {
			return l, t.noColumn(line, name, names, "give its name as the head has it")
		}
		l.more = append(l.more, at)
	}
	if l.time < 0 && !o.Levels {
		return l, t.fault(line, "", fmt.Sprintf("there is no column of times: expected ds, found %s", strings.Join(names, ", ")), "name it with --time-col")
	}
	if err := t.checkUnambiguous(l, names, line); err != nil {
		return l, err
	}
	if l.value >= 0 {
		return l, nil
	}
	var rest []int
	for i := range names {
		if !slices.Contains(l.ids, i) && i != l.time {
			rest = append(rest, i)
		}
	}
	switch {
	case len(rest) == 1:
		l.value = rest[0]
	case len(rest) > 1 && o.Levels && len(l.ids) == 0:
		l.wide = rest
		return l, t.checkWide(names, line, rest)
	default:
		expected := append(slices.Clone(o.Usual), "y")[0]
		return l, t.fault(line, "", fmt.Sprintf("there is no column of values: expected %s, found %s", expected, strings.Join(names, ", ")), "name it with --value-col")
	}
	return l, nil
}

// noColumn returns the error for a column that is not in the header.
func (t *Table) noColumn(line int, name string, names []string, hint string) error {
	return t.fault(line, name, "there is no such column; have "+strings.Join(names, ", "), hint)
}

// checkUnambiguous returns an error where the meaning of a column is in doubt: another column
// has the same name, or the column is for both stamps and values.
func (t *Table) checkUnambiguous(l layout, names []string, line int) error {
	if l.value >= 0 && l.value == l.time {
		return t.fault(line, names[l.value], "the column is named for the times and for the values", "give --time-col and --value-col a column each")
	}
	for _, at := range append([]int{l.time, l.value}, l.ids...) {
		if at >= 0 && slices.Contains(names[at+1:], names[at]) {
			return t.fault(line, names[at], "the head has this name twice", "rename one of the two columns, or leave it out")
		}
	}
	return nil
}

// checkWide returns an error where the name of one of columns is empty or repeated, and so
// cannot name a series.
func (t *Table) checkWide(names []string, line int, columns []int) error {
	seen := map[string]bool{}
	for _, i := range columns {
		if seen[names[i]] || names[i] == "" {
			return t.fault(line, names[i], "expected a name of its own for each column, which is a series", "name each column after its series")
		}
		seen[names[i]] = true
	}
	return nil
}
